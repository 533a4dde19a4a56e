// What every view offers of its rows: the command that gives them, and the rows as text.
import { plain, shellWord } from './texts.js';

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

/** @param {any[]} row @param {string[]} columns */
function object(row, columns) {
  return Object.fromEntries(columns.map((column, at) => [column, row[at]]));
}

/** What rows come to: how many, and their own cost, which rows of lines share with those of functions. @param {string[]} columns @param {any[][]} rows */
function shownOf(columns, rows) {
  const [exclusive, line] = [columns.indexOf('exclusive'), columns.indexOf('line')];
  const functions = line < 0 ? rows : rows.filter((row) => row[line] === null);
  const added = functions.length > 0 ? functions : rows;
  const isKnown = added.length > 0 && exclusive >= 0 && added.every((row) => row[exclusive] !== null);
  return { rows: rows.length, exclusive: isKnown ? added.reduce((sum, row) => sum + row[exclusive], 0) : null };
}

/** The object that `--format json` gives. @param {import('./profile.js').Run} run @param {import('./ask.js').Answer} answer */
export function jsonOf(run, { columns, rows, header }) {
  const { metric } = header;
  const head = {
    schema_version: 1,
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
  const text = JSON.stringify(head);
  const objects = rows.map((row) => JSON.stringify(object(row, columns))).join(',\n');
  return `${text.slice(0, -1)},"rows":[\n${objects}\n],"shown":${JSON.stringify(shownOf(columns, rows))}}\n`;
}

/** @param {import('./ask.js').Answer} answer */
export function csvOf({ columns, rows }) {
  const field = (/** @type {any} */ value) => {
    const text = value === null ? '' : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => `${row.map(field).join(',')}\n`).join('');
}

/** @param {import('./ask.js').Answer} answer */
export function markdownOf({ columns, rows }) {
  const cell = (/** @type {any} */ value) =>
    value === null ? '' : plain(String(value)).replace(/[\\`*_[\]<>&|~]/g, (sign) => `\\${sign}`);
  const line = (/** @type {any[]} */ cells) => `| ${cells.join(' | ')} |\n`;
  const isNumber = columns.map((_, at) => rows.some((row) => typeof row[at] === 'number'));
  return line(columns.map(cell)) + line(isNumber.map((is) => (is ? '---:' : '---'))) + rows.map((row) => line(row.map(cell))).join('');
}
