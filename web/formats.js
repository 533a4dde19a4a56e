// Answers as CSV and Markdown, letter by letter as the command writes them (`src/report/render`, `src/text/csv.rs`).
import { figure, fixed, ofColumn, readable, rounded, shortest, significant } from './numbers.js';
import { placesOf } from './places.js';
import { plain } from './texts.js';

/** @typedef {{title: string, kind: string, value: (row: number) => any}} Shown A column: numbers are figures in their base units, and `BigInt` are whole. */
/** @typedef {{name: string, unit: string, total: number, selected: number | null}} Measure */
/** @typedef {{count: number, shown: Shown[], measure: Measure | null}} Csv */
/** @typedef {Csv & {above: string[], depth: ((row: number) => number | null) | null, place: ((row: number) => [string, string]) | null, apart?: (row: number) => string | null}} Markdown Above are paragraphs; a place is a module and a file. Apart is what tells the function of a row from others of its name. */

/** The power of ten of costs in CSV, by their base unit. @param {string} unit */
const powerOf = (unit) => (unit === 'ns' ? -6 : 0);

/** @param {string} text */
const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

/** A title whose `Time` is what is measured. @param {Shown} column @param {Measure | null} measure */
function csvTitle({ title, kind }, measure) {
  if (measure === null || (kind !== 'cost' && kind !== 'raw')) return title;
  const letters = [...measure.name];
  const name = (letters[0] ?? '').toUpperCase() + letters.slice(1).join('');
  const quantity = measure.unit === 'bytes' ? `${name}(bytes)` : measure.unit === 'ns' && name !== 'Time' ? `${name}(msec)` : name;
  return title.replaceAll('Time', () => quantity);
}

/** @param {Csv} answer */
export function csvOf({ count, shown, measure }) {
  const titles = shown.map((column) => csvTitle(column, measure));
  // Only what can be read again has a name for what has none.
  const isProfile = ['ExclusiveTime', 'InclusiveTime'].every((title) => titles.includes(title));
  const power = powerOf(measure?.unit ?? '');
  const isTime = measure?.unit === 'ns';
  const field = (/** @type {any} */ value, /** @type {string} */ kind, /** @type {string} */ title) => {
    if (value === null || value === undefined) return '';
    if (typeof value === 'string') return quoted(value === '' && isProfile && title === 'Element' ? '(no name)' : value);
    if (typeof value === 'bigint') return String(value);
    if (measure !== null && (kind === 'cost' || kind === 'raw')) return kind === 'cost' && isTime ? significant(value, power) : shortest(value, power);
    return kind === 'percent' ? significant(value) : shortest(value);
  };
  const lines = [titles.map(quoted).join(',')];
  for (let row = 0; row < count; row++) lines.push(shown.map(({ kind, value }, at) => field(value(row), kind, titles[at])).join(','));
  return `${lines.join('\n')}\n`;
}

/** Bytes of the longest text that is shown whole. */
const LONGEST = 16 * 1024;

/** A text, without its middle if it is very long. @param {string} text */
function cut(text) {
  if (text.length * 3 <= LONGEST) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= LONGEST) return text;
  const boundary = (/** @type {number} */ at) => {
    while (at < bytes.length && (bytes[at] & 0xc0) === 0x80) at++;
    return at;
  };
  const decoded = (/** @type {Uint8Array} */ part) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(part);
  return `${decoded(bytes.subarray(0, boundary(LONGEST / 2)))}…${decoded(bytes.subarray(boundary(bytes.length - LONGEST / 2)))}`;
}

/** A text with a backslash in `##[error]`, which some runners find anywhere in a line. @param {string} text */
const uncommanded = (text) => text.replace(/(##[A-Za-z]*)\[/g, '$1\\[');

/** A text as a code span, in which nothing is markup, a mention or a link. @param {string} text */
function code(text) {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  // One blank at each end belongs to the span, unless it has nothing but blanks.
  return text === '' || (/^[` ]|[` ]$/.test(text) && /[^ ]/.test(text)) ? `${fence} ${text} ${fence}` : fence + text + fence;
}

/** A text as code spans in a cell of a table. A `|` after an odd number of backslashes, which are pairs of escapes, is between two spans.
 * @param {string} text */
function codeCell(text) {
  const spans = uncommanded(text).split(/(?<=(?<!\\)(?:\\\\)*\\)\|/);
  return spans.map((span) => (span === '' ? '' : code(span).replaceAll('|', '\\|'))).join('&#124;');
}

/** Words and figures as they are, and every other text as a code span. @param {string} text */
function markedCell(text) {
  const isKnown = /^(?:[A-Za-z0-9 ()%]|\.(?![A-Za-z]))*$|^[0-9 .,()%<+-]*$/.test(text) && text.trim() === text;
  return isKnown ? text.replaceAll('<', '&lt;') : codeCell(text);
}

/** Returns the text that tells functions of one name apart, by the run or else by the modules and files of the rows.
 * @param {Markdown} answer @returns {(name: string, row: number) => string | null} */
function namesApart({ count, shown, place, apart }) {
  if (apart) return (_, row) => apart(row);
  const names = shown.filter(({ kind }) => kind === 'name' || kind === 'node');
  if (place === null) return () => null;
  /** @type {Map<string, Map<string, import('./places.js').Namesake>>} */
  const all = new Map();
  const keyOf = (/** @type {[string, string]} */ place) => JSON.stringify(place);
  for (let row = 0; row < count; row++) {
    for (const { value } of names) {
      const name = value(row);
      if (typeof name !== 'string') continue;
      const [module, file] = place(row);
      let definitions = all.get(name);
      if (!definitions) all.set(name, (definitions = new Map()));
      definitions.set(keyOf([module, file]), { module, file, line: 0, column: 0, isCode: true });
    }
  }
  /** @type {Map<string, Map<string, string>>} */
  const known = new Map();
  for (const [name, definitions] of all) {
    if (definitions.size < 2) continue;
    const places = placesOf([...definitions.values()]);
    known.set(name, new Map([...definitions.keys()].map((key, at) => [key, places[at]])));
  }
  return (name, row) => known.get(name)?.get(keyOf(place(row))) || null;
}

/** Levels of a tree that are shown by blanks. */
const INDENTED = 60;

/** @param {Markdown} answer */
export function markdownOf(answer) {
  const { count, shown, measure, above, depth } = answer;
  const scale = measure && ofColumn(measure.name, measure.unit, measure.total, measure.selected ?? measure.total);
  const apart = namesApart(answer);
  const cell = (/** @type {any} */ value, /** @type {string} */ kind, /** @type {number} */ row) => {
    if (value === null || value === undefined) return ['line', 'text', 'any', 'name', 'node'].includes(kind) ? '' : '-';
    if (typeof value === 'bigint') return String(value);
    if (typeof value === 'number') {
      if (kind === 'percent') return fixed(value, 1);
      return scale && (kind === 'cost' || kind === 'raw') ? rounded(scale, value) : readable(value);
    }
    const more = kind === 'name' || kind === 'node' ? apart(value, row) : null;
    return plain(cut(value)) + (more === null ? '' : ` (${plain(cut(more))})`);
  };
  const indent = (/** @type {string} */ kind, /** @type {number} */ row) => {
    const levels = kind === 'node' && depth ? (depth(row) ?? 0) : 0;
    return '&nbsp;'.repeat(Math.min(levels, INDENTED)) + (levels > INDENTED ? `+${levels - INDENTED} ` : '');
  };
  const isRight = shown.map(({ kind }) => !['name', 'node', 'text'].includes(kind));
  const line = (/** @type {string[]} */ cells) => `|${cells.map((text) => ` ${text} |`).join('')}`;
  const rows = [];
  for (let row = 0; row < count; row++) {
    rows.push(
      line(
        shown.map(({ kind, value }, at) => {
          const found = value(row);
          if (typeof found === 'string') isRight[at] = false;
          const text = cell(found, kind, row);
          return indent(kind, row) + (kind === 'name' || kind === 'node' ? codeCell(text) : markedCell(text));
        }),
      ),
    );
  }
  const heads = shown.map(({ title }) => markedCell(plain(title.replaceAll('@', () => scale?.title ?? ''))));
  const paragraphs = above.map((text) => `${code(uncommanded(plain(text)))}\n\n`).join('');
  return `${paragraphs}${[line(heads), line(isRight.map((is) => (is ? '---:' : ':---'))), ...rows].join('\n')}\n`;
}

/** What stands above a table about one run: `Total time: 58.2 msec; Selected time: 23.8 msec`.
 * @param {Measure} measure @param {{instead: boolean, isExclusiveLeft: boolean, callers?: number | null}} header */
export function totalsOf({ name, unit, total, selected }, { instead, isExclusiveLeft, callers }) {
  const scale = ofColumn(name, unit, total, selected ?? total);
  const cost = (/** @type {number} */ value) => `${rounded(scale, value)} ${scale.unit}`.trimEnd();
  return [
    `Total ${name}: ${figure(name, unit, total)}`,
    ...(selected === null ? [] : [`Selected ${name}: ${cost(selected)}`]),
    ...(instead ? [`Shown: exclusive ${name}, because cumulative ${name} is unknown`] : []),
    ...(isExclusiveLeft ? [`Exclusive ${name}: summed over the nodes, not as stated in the file`] : []),
    ...(callers === undefined ? [] : [`Callers ${name}: ${callers === null ? 'unknown for some' : cost(callers)}`]),
  ].join('; ');
}

/** Rows of plain SQL, whose columns may share a name. @param {string[]} columns @param {any[][]} rows @returns {Markdown} */
export function plainRows(columns, rows) {
  const shown = columns.map((title, at) => ({ title, kind: 'any', value: (/** @type {number} */ row) => rows[row][at] }));
  return { count: rows.length, shown, measure: null, above: [], depth: null, place: null };
}

/** The same as JSON. @param {string[]} columns @param {any[][]} rows */
export function jsonOfRows(columns, rows) {
  const names = columns.map((name) => JSON.stringify(name));
  const value = (/** @type {any} */ value) => {
    if (typeof value === 'bigint') return String(value);
    if (typeof value === 'number') return Number.isFinite(value) ? shortest(value) : 'null';
    return JSON.stringify(value);
  };
  const objects = rows.map((row) => `\n{${row.map((one, at) => `${names[at]}:${value(one)}`).join(',')}}`);
  return `{"schema_version":2,"rows":[${objects.join(',')}\n]}\n`;
}
