// A function line by line, with its source where the run has it.
import { ask, shareOf } from './ask.js';
import { div, note, onceSeen } from './dom.js';
import { ofColumn, percent, rounded } from './numbers.js';
import { table } from './table.js';
import { Unanswered, plain, shown } from './texts.js';
import { parsePath, writePath } from './path.js';
import { questionOf } from './state.js';

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
  const known = (/** @type {string} */ of) => run.knows(of);
  const about = (/** @type {string} */ fn) => ask(run, questionOf(state, 'function', { fn }));
  const alone = writePath([{ operator: ',', name }], known);
  const steps = state.fn === '' ? [] : parsePath(state.fn, known);
  if (state.report === 'calls' || steps.length === 0 || !run.isTree) return about(alone);
  const isLast = run.named(steps.at(-1)?.name ?? '').join() === run.named(name).join();
  const fn = isLast ? state.fn : writePath([...steps, { operator: ',', name }], known);
  try {
    return await about(fn);
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    const answer = await about(alone);
    answer.header.remarks.push('The function was not called within the selection; all its calls are shown.');
    return answer;
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
  const share = (/** @type {any[]} */ row) => shareOf(header, row[cost]);
  const scale = ofColumn(metric.name, metric.unit, header.total, header.selected ?? 0);
  const hasCode = answer.rows.some((row) => row[code] !== null);
  const text = (/** @type {string} */ title, /** @type {number} */ of, isMono = false) => (answer.rows.some((row) => row[of] !== null) ? [{ title, isText: true, isMono, value: (/** @type {any[]} */ row) => plain(row[of] ?? '') }] : []);
  const columns = [
    { title: 'Line', value: (/** @type {any[]} */ row) => row[at] + (row[2] === null ? '' : `:${row[2]}`) },
    ...(answer.rows.some((row) => row[calls] !== null) ? [{ title: 'Calls', value: (/** @type {any[]} */ row) => (isCalled(row) ? row[calls] : '') }] : []),
    { title: `${scale.title}${cost === exclusive ? ' exclusive' : ''}`, value: (/** @type {any[]} */ row) => (row[cost] === null ? '' : rounded(scale, row[cost])) },
    { title: '%', value: (/** @type {any[]} */ row) => (row[cost] === null ? '' : percent(share(row))), share },
    ...text('Source', code, true),
    ...text('Callees', callees),
  ];
  const isShown = (/** @type {any[]} */ row) => line !== null && row[at] === line;
  const heat = (/** @type {any[]} */ row) => {
    const part = share(row) ?? 0;
    return part >= 10 ? 'hot' : part >= 1 ? 'warm' : isCalled(row) ? null : 'cold';
  };
  const lines = table({ label: `Lines of ${shown(String(answer.rows[0]?.[0] ?? ''))}`, columns, items: rows, isFixed: true, isSelected: isShown, rowClass: heat });
  const said = hasCode ? null : `Run ${run.number} has no stored source of this function; \`profdb import --source DIR\` stores it.`;
  onceSeen(lines, () => lines.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'center' }));
  return div('lines', ...header.remarks.map(note), said ? note(said) : null, lines);
}
