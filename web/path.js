// Drill-down paths: `A,B` is B somewhere within A, `A>B` is B called by A directly (`src/report/path.rs`).
import { Unanswered, plain } from './texts.js';

/** @typedef {{operator: ',' | '>', name: string}} Step The operator of the first step means nothing. */

/** Reads a path; `known` says whether the run has a function of that name. Names with `*` and `?` that the run does not know
 * are patterns on the command line, and no names here.
 * @param {string} text @param {(name: string) => boolean} known @returns {Step[]} */
export function parsePath(text, known) {
  /** @type {Step[]} */
  const steps = [];
  let rest = text;
  let operator = /** @type {',' | '>'} */ (',');
  /** @param {string} what */
  const expected = (what) => new Unanswered(plain(`path "${text}": expected ${what} at character ${text.length - rest.length + 1}, found ${rest === '' ? 'the end' : `"${rest[0]}"`}`));
  for (;;) {
    const read = readName(rest, known);
    if (read === null) throw expected('a name');
    const [name, length] = read;
    steps.push({ operator, name });
    rest = rest.slice(length);
    if (rest === '') return steps;
    if (rest[0] !== ',' && rest[0] !== '>') throw expected(', or >');
    operator = rest[0];
    rest = rest.slice(1);
  }
}

/** The name at the start of a text, and how long it is there; `null` where there is none. The longest name that the run knows is
 * meant. @param {string} text @param {(name: string) => boolean} known @returns {[string, number] | null} */
function readName(text, known) {
  for (let end = text.length; end >= 0; end--) {
    if (end < text.length && text[end] !== ',' && text[end] !== '>') continue;
    const name = text.slice(0, end);
    if (known(name)) return [name, end];
    if (known(name.trim())) return [name.trim(), end];
  }
  const quoted = /^ *(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)') */.exec(text);
  if (quoted) return [(quoted[1] ?? '').replaceAll('""', '"') || (quoted[2] ?? '').replaceAll("''", "'"), quoted[0].length];
  const bare = /^[^,>]*/.exec(text)?.[0] ?? '';
  return bare.trim() === '' ? null : [bare.trim(), bare.length];
}

/** Writes steps so that they are read as these. @param {Step[]} steps @param {(name: string) => boolean} known */
export function writePath(steps, known) {
  const join = (/** @type {(name: string) => string} */ write) =>
    steps.map((step, at) => (at === 0 ? '' : step.operator) + write(step.name)).join('');
  const quote = (/** @type {string} */ name) => `"${name.replaceAll('"', '""')}"`;
  const bare = join((name) => name);
  const isRead = (/** @type {string} */ text) => {
    try {
      const read = parsePath(text, known);
      return read.length === steps.length && read.every((step, at) => step.name === steps[at].name && (at === 0 || step.operator === steps[at].operator));
    } catch {
      return false;
    }
  };
  if (steps.every((step) => step.name !== '') && isRead(bare)) return bare;
  return join(quote);
}
