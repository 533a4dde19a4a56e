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
  };
  const text = JSON.stringify(head);
  return `${text.slice(0, -1)},"rows":[\n${rows.map((row) => JSON.stringify(object(row, columns))).join(',\n')}\n]}\n`;
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
