// A function line by line, with its source where the run has it.
import { ask } from './ask.js';
import { make } from './dom.js';
import { ofColumn, percent, rounded } from './numbers.js';
import { table } from './table.js';
import { Unanswered, plain, shown } from './texts.js';
import { parsePath, writePath } from './path.js';

/** How a comment of one line begins, by the end of the name of the file; in workspaces of APL there are no files. */
const COMMENTS = [
  [/^$/, /^⍝/],
  [/\.(apl[acnfo]?|dyalog|mipage)$/i, /^⍝/],
  [/\.(py|pyw|pyx|rb|pl|pm|sh|bash|r|jl|tcl|nim)$/i, /^#/],
  [/\.(c|h|cc|cpp|cxx|hpp|hh|m|mm|rs|go|java|kt|scala|cs|js|mjs|cjs|ts|tsx|jsx|swift|zig|d)$/i, /^(\/\/|\/\*.*\*\/$)/],
  [/\.php$/i, /^(\/\/|#|\/\*.*\*\/$)/],
  [/\.(hs|lhs|lua|sql|elm|ada|adb)$/i, /^--/],
  [/\.(lisp|lsp|cl|el|clj|scm|asm|s)$/i, /^;/],
  [/\.(erl|tex|pro)$/i, /^%/],
  [/\.(f|f90|f95|for)$/i, /^!/],
  [/\.(brs|wb|bas|vb)$/i, /^(!|'|rem\b)/i],
];

/** Whether a line is blank, or one comment and nothing else. @param {string} text @param {string} file */
export function isBlank(text, file) {
  const line = text.trim();
  return line === '' || COMMENTS.some(([name, comment]) => /** @type {RegExp} */ (name).test(file) && /** @type {RegExp} */ (comment).test(line));
}

/** The answer about the lines of a function within what is selected; about all its calls where it is not there.
 * @param {import('./actions.js').Context} context @param {string} name */
export async function linesOf({ run, state }, name) {
  const known = (/** @type {string} */ of) => run.byName.has(of);
  const question = { report: 'function', metric: state.metric || undefined, percentOf: state['percent-of'] };
  const alone = writePath([{ operator: ',', name }], known);
  const steps = state.fn === '' ? [] : parsePath(state.fn, known);
  if (state.report === 'calls' || steps.length === 0 || !run.isTree) return ask(run, { ...question, fn: alone });
  const isLast = steps.at(-1)?.name === name;
  const fn = isLast ? state.fn : writePath([...steps, { operator: ',', name }], known);
  try {
    return await ask(run, { ...question, fn });
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    return ask(run, { ...question, fn: alone });
  }
}

/** Lines with figures and source. @param {import('./actions.js').Context} context @param {import('./ask.js').Answer} answer @param {number | null} line One to be seen. */
export function sourceTable({ run, state }, answer, line) {
  const { header } = answer;
  const { metric } = header;
  const column = (/** @type {string} */ name) => answer.columns.indexOf(name);
  const [at, calls, exclusive, cumulative, callees, code, file] = ['line', 'calls', 'exclusive', 'cumulative', 'callees', 'code', 'file'].map(column);
  const cost = state.exclusive === '' && answer.rows.some((row) => row[cumulative] !== null) ? cumulative : exclusive;
  const isCalled = (/** @type {any[]} */ row) => (row[calls] === null ? row[exclusive] !== null || row[cumulative] !== null || row[callees] !== null : row[calls] > 0);
  const rows = answer.rows.filter(
    (row) => (state.blank === 'shown' || row[code] === null || !isBlank(row[code], row[file])) && (state.uncalled === 'shown' || isCalled(row)),
  );
  const base = state['percent-of'] === 'selection' && header.selected !== null ? header.selected : header.total;
  const share = (/** @type {number} */ row) => (base === 0 || rows[row][cost] === null ? null : (100 * rows[row][cost]) / base);
  const scale = ofColumn(metric.name, metric.unit, header.total, header.selected ?? 0);
  const hasCode = answer.rows.some((row) => row[code] !== null);
  const hasCallees = answer.rows.some((row) => row[callees] !== null);
  const number = (/** @type {any} */ value) => (value === null ? '-' : String(value));
  const columns = [
    { title: 'Line', text: (/** @type {number} */ row) => String(rows[row][at]) + (rows[row][2] === null ? '' : `:${rows[row][2]}`) },
    { title: 'Calls', text: (/** @type {number} */ row) => (isCalled(rows[row]) ? number(rows[row][calls]) : '') },
    { title: `${scale.title}${cost === exclusive ? ' own' : ''}`, text: (/** @type {number} */ row) => (rows[row][cost] === null ? '' : rounded(scale, rows[row][cost])) },
    { title: '%', text: (/** @type {number} */ row) => (rows[row][cost] === null ? '' : percent(share(row))), share },
    ...(hasCode ? [{ title: 'Source', isText: true, isMono: true, text: (/** @type {number} */ row) => plain(rows[row][code] ?? '') }] : []),
    ...(hasCallees ? [{ title: 'Callees', isText: true, text: (/** @type {number} */ row) => plain(rows[row][callees] ?? '') }] : []),
  ];
  const isShown = (/** @type {number} */ row) => line !== null && rows[row][at] === line;
  const heat = (/** @type {number} */ row) => {
    const part = share(row) ?? 0;
    return part >= 10 ? 'hot' : part >= 1 ? 'warm' : isCalled(rows[row]) ? null : 'cold';
  };
  const lines = table({ label: `Lines of ${shown(String(answer.rows[0]?.[0] ?? ''))}`, columns, count: rows.length, isSelected: isShown, rowClass: heat });
  const said = hasCode ? null : `No source of it is stored with run ${run.number}: \`profdb import --source DIR\` keeps it.`;
  requestAnimationFrame(() => lines.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'center' }));
  return make('div', { class: 'lines' }, said ? make('p', { class: 'said', text: said }) : null, lines);
}
