// The statement that `--show-sql` shows, put together from its parts as `src/report/statement.rs` does.
import { quoted } from './texts.js';

/** @typedef {{operator: ',' | '>', name: string, isCode: boolean, listed: number[] | null}} NamedStep Functions that the name alone does not mean are listed by their ids. */

/** A text as SQL has it. @param {string} text */
function textLiteral(text) {
  if (!/\p{Cc}/u.test(text)) return quoted(text);
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0'));
  return `CAST(x'${bytes.join('')}' AS TEXT)`;
}

/** Words that SQLite is to look into rather than to compute as a whole. */
const LOOKED_INTO = ['labels_of_nodes', 'metric_nodes', 'shifted_edges'];

/** The words of a text, outside of texts in quotes. @param {string} text */
function wordsOf(text) {
  return text.split("'").filter((_, at) => at % 2 === 0).flatMap((code) => code.split(/[^A-Za-z0-9_]/)).filter((word) => word !== '');
}

/** @param {any} statements @param {string} key @param {NamedStep[]} steps @param {string[]} labels @returns {string} */
export function statement(statements, key, steps, labels) {
  const found = statements.statements[key];
  if (!found) throw new Error('the page has no statement for this');
  /** @type {Map<string, string>} */
  const parts = new Map(Object.entries(found.parts).map(([name, at]) => [name, statements.texts[/** @type {number} */ (at)]]));
  /** @type {Record<string, string>} */
  const values = { ...found.values };
  const sets = labels.map((label, before) => {
    const at = before + 1;
    const end = label.indexOf('=');
    values[`key_${at}`] = textLiteral(end < 0 ? label : label.slice(0, end));
    values[`value_${at}`] = textLiteral(label.slice(end + 1));
    const value = end < 0 ? '' : `\n  AND :value_${at} IN (CAST(s.value AS TEXT), s.value || s.unit, s.value || ' ' || s.unit)`;
    return `SELECT s.set_id FROM label_sets AS s WHERE s.run_id = :run AND s.key = :key_${at}${value}`;
  });
  if (sets.length > 0) parts.set('wanted_sets', sets.join('\nINTERSECT\n'));
  const last = steps.length;
  steps.forEach(({ operator, name, isCode, listed }, before) => {
    const at = before + 1;
    values[`name_${at}`] = textLiteral(listed ? JSON.stringify(listed) : name);
    const text = (/** @type {string} */ part) =>
      (parts.get(part) ?? '')
        .replaceAll('{step}', String(at))
        .replaceAll('{earlier}', String(before))
        .replaceAll('{kinds}', isCode ? "IN ('function', 'pseudo')" : "NOT IN ('function', 'pseudo')");
    parts.set(`step_${at}_functions`, text(listed ? 'listed_functions' : 'named_functions'));
    const follows = before === 0 ? 'first_step' : operator === ',' ? 'step_within' : 'step_direct';
    if (parts.has(follows)) parts.set(at === last ? 'subtrees' : `step_${at}`, text(follows));
  });
  const finish = (/** @type {string} */ text) =>
    text.replaceAll('step_0_functions', `step_${last}_functions`).replace(/:([A-Za-z0-9_]*)/g, (word, name) => values[name] ?? word);
  /** @type {[string, string][]} */
  const bodies = [];
  const seen = new Set();
  const collect = (/** @type {string} */ text) => {
    for (const word of wordsOf(text)) {
      const part = seen.has(word) ? undefined : parts.get(word);
      if (part === undefined) continue;
      seen.add(word);
      const body = finish(part);
      collect(body);
      bodies.push([word, body]);
    }
  };
  const select = finish(statements.texts[found.select]);
  collect(select);
  const isRecursive = bodies.some(([name, body]) => wordsOf(body).includes(name));
  let text = '';
  bodies.forEach(([name, body], at) => {
    const before = at > 0 ? '' : isRecursive ? 'WITH RECURSIVE ' : 'WITH ';
    const hint = LOOKED_INTO.includes(name) ? 'NOT MATERIALIZED ' : '';
    const after = at + 1 < bodies.length ? '),' : ')';
    const line = `${before}${name} AS ${hint}(${body}${after}`;
    text += line.includes('\n') ? `${before}${name} AS ${hint}(\n  ${body.replaceAll('\n', '\n  ')}\n${after}\n` : `${line}\n`;
  });
  return `${text}${select}\n`;
}
