// What every view offers of its rows: the command that gives them, and the rows as text, letter by letter as that writes them.
import { shareOf } from './ask.js';
import { json } from './bytes.js';
import { csvOf, markdownOf, totalsOf } from './formats.js';
import { shortest } from './numbers.js';
import { isServed, servedText } from './served.js';
import { shellWord } from './texts.js';

/** @typedef {'json' | 'csv' | 'markdown'} Format */
/** @typedef {[string, string, boolean, string[]][]} Titled Columns that a format has: name, kind, whether they are left out without a value, and titles: where costs are cumulative, where they are exclusive, and where they are exclusive as no others are known. */
/** @typedef {{count: number, value: (name: string) => ((row: number) => any) | null, columns: string[], titled: Titled, title: number, apart?: (row: number) => string | null}} Rows */

/** The command that gives an answer. @param {any} command @param {import('./profile.js').Run} run @param {import('./ask.js').Answer} answer */
export function commandOf(command, run, answer) {
  const { question, metric } = answer.header;
  const words = ['profdb', 'report', question.report, ...command.words];
  if (!command.names_run) words.push('--run', String(run.number));
  if (metric.name !== run.about.default_metric) words.push('--metric', metric.name);
  if (question.fn !== undefined) words.push(`--fn=${question.fn}`);
  words.push(...(question.label ?? []).map((/** @type {string} */ label) => `--label=${label}`));
  if (question.exclusive) words.push('--exclusive');
  if (question.report === 'function') words.push('--all-lines');
  if (question.percentOf === 'selection') words.push('--percent-of', 'selection');
  return words.map(shellWord).join(' ');
}

/** What rows come to: how many, and their own cost, which rows of lines share with those of functions. @param {string[]} columns @param {any[][]} rows */
function shownOf(columns, rows) {
  const [exclusive, line] = [columns.indexOf('exclusive'), columns.indexOf('line')];
  const functions = line < 0 ? rows : rows.filter((row) => row[line] === null);
  const added = functions.length > 0 ? functions : rows;
  const isKnown = added.length > 0 && exclusive >= 0 && added.every((row) => row[exclusive] !== null);
  return { rows: rows.length, exclusive: isKnown ? added.reduce((sum, row) => sum + row[exclusive], 0) : null };
}

/** A value as JSON has it. @param {any} value @returns {string} */
export function jsonValue(value) {
  if (typeof value === 'number') return shortest(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, value]) => `${JSON.stringify(name)}:${jsonValue(value)}`).join(',')}}`;
}

/** The object that `--format json` gives. @param {import('./profile.js').Run} run @param {import('./ask.js').Answer} answer */
function jsonOf(run, { columns, rows, header }) {
  const { metric } = header;
  const head = {
    schema_version: 2,
    report: header.question.report,
    title: run.about.title,
    run: { run_id: run.number, name: run.about.name, fidelity: run.about.fidelity },
    metric: metric.name,
    unit: metric.unit,
    total: metric.total,
    selected: header.selected,
    ...(header.isExclusiveLeft && { exclusive_left: true }),
    ...(header.callers !== undefined && { callers: header.callers }),
  };
  const names = columns.map((column) => JSON.stringify(column));
  const objects = rows.map((row) => `{${row.map((value, at) => `${names[at]}:${jsonValue(value)}`).join(',')}}`).join(',\n');
  return `${jsonValue(head).slice(0, -1)},"rows":[\n${objects}\n],"shown":${jsonValue(shownOf(columns, rows))}}\n`;
}

/** The columns that are shown: those that have a value in some row, or have to be there. @param {Rows} rows @returns {import('./formats.js').Shown[]} */
function shownColumns({ count, value, titled, title }) {
  const isFilled = (/** @type {(row: number) => any} */ of) => {
    for (let row = 0; row < count; row++) if (of(row) !== null && of(row) !== '') return true;
    return count === 0;
  };
  return titled.flatMap(([name, kind, isOptional, titles]) => {
    const of = value(name) ?? (() => null);
    return isOptional && !isFilled(of) ? [] : [{ title: titles[title] ?? titles[0], kind, value: of }];
  });
}

/** Rows as CSV or Markdown. @param {Format} format @param {Rows} rows @param {import('./formats.js').Measure} measure @param {string[]} above */
export function rowsAs(format, rows, measure, above) {
  const { count, columns, value } = rows;
  const shown = shownColumns(rows);
  if (format === 'csv') return csvOf({ count, shown, measure });
  const whose = ['', 'caller_', 'callee_'].find((whose) => ['module', 'file'].every((name) => columns.includes(whose + name)));
  const [module, file] = ['module', 'file'].map((name) => (whose === undefined ? null : value(whose + name)));
  const place = module && file ? (/** @type {number} */ row) => /** @type {[string, string]} */ ([module(row) ?? '', file(row) ?? '']) : null;
  return markdownOf({ count, shown, measure, above, depth: value('depth'), place, ...(rows.apart && { apart: rows.apart }) });
}

/** An answer about a run as text. @param {import('./profile.js').Run} run @param {import('./ask.js').Answer} answer @param {Format} format @returns {Promise<string>} */
export async function textOf(run, answer, format) {
  const { header } = answer;
  if (isServed()) return servedText(run, header.question, format);
  if (format === 'json') return jsonOf(run, answer);
  const { rows, columns, functions, elements } = answer;
  const { question, metric, selected, exclusive } = header;
  const at = (/** @type {string} */ name) => columns.indexOf(name);
  const cost = at(exclusive ? 'exclusive' : 'cumulative');
  const instead = exclusive && !question.exclusive;
  /** What formats have that is no column of JSON. @type {Record<string, (row: number) => any>} */
  const others = {
    element: (row) => elements[row],
    name: (row) => rows[row][at('caller')] ?? elements[row],
    cost: (row) => rows[row][cost],
    cost_pct: (row) => shareOf(header, rows[row][cost]),
  };
  const value = (/** @type {string} */ name) => {
    const of = at(name);
    return of >= 0 ? (/** @type {number} */ row) => rows[row][of] : (others[name] ?? null);
  };
  run.titled ??= json('columns');
  const titled = (await run.titled)[question.report][format];
  const measure = { name: metric.name, unit: metric.unit, total: metric.total, selected };
  const above = [...(run.about.has_others ? [`Run ${run.number}: ${run.about.name}`] : []), totalsOf(measure, { ...header, instead })];
  return rowsAs(format, { count: rows.length, columns, value, titled, title: instead ? 2 : exclusive ? 1 : 0, apart: (row) => run.placeApart(functions[row]) }, measure, above);
}
