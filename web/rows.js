// Answers as tables, and what is offered of them.
import { countOf, shareOf, sideOf, sqlOf } from './ask.js';
import { button, copyButton, dialog, make, menu } from './dom.js';
import { ofColumn, percent, rounded } from './numbers.js';
import { commandOf, csvOf, jsonOf, markdownOf } from './offer.js';
import { table } from './table.js';
import { shown } from './texts.js';

/** Rows of an answer with their cost, share and calls. @param {import('./ask.js').Answer} answer @param {string} label
 * @param {import('./actions.js').Handle} handle @param {(row: number) => boolean} isSelected @param {string} title */
export function costTable(answer, label, handle, isSelected, title) {
  const { header } = answer;
  const { metric } = header;
  const at = (/** @type {string} */ column) => answer.columns.indexOf(column);
  const [cost, calls] = [at(header.exclusive ? 'exclusive' : 'cumulative'), at('calls')];
  const scale = ofColumn(metric.name, metric.unit, header.total, header.selected ?? 0);
  const cell = (/** @type {number} */ row, /** @type {number} */ column) => sideOf(answer, row).rows[row][column];
  const share = (/** @type {number} */ row) => shareOf(header, cell(row, cost));
  const count = countOf(answer);
  const hasCalls = count === 0 || (answer.many?.hasCalls ?? answer.rows.some((row) => row[calls] !== null));
  return table({
    label,
    items: [...Array(count).keys()],
    handle,
    isSelected,
    columns: [
      { title, isText: true, value: (row) => sideOf(answer, row).elements[row], show: shown },
      { title: `${scale.title}${header.exclusive ? ' own' : ''}`, value: (row) => cell(row, cost), show: (value) => rounded(scale, value) },
      { title: '%', value: share, show: percent, share },
      ...(hasCalls ? [{ title: 'Calls', value: (/** @type {number} */ row) => cell(row, calls) }] : []),
    ],
  });
}

/** A button with a menu of texts, which are shown to be copied or kept. @param {string} of What they are of.
 * @param {[string, string, () => string | Promise<string>][]} all Names, endings of files, and the texts. */
export function offerTexts(of, all) {
  const show = async (/** @type {string} */ name, /** @type {string} */ ending, /** @type {() => string | Promise<string>} */ write) => {
    const text = await write();
    const area = make('textarea', { readonly: true, rows: 14, cols: 90, 'aria-label': name, spellcheck: 'false' });
    area.value = text;
    const copy = copyButton(text, () => area.select());
    const save = button('Save', () => {
      const url = URL.createObjectURL(new Blob([text]));
      make('a', { href: url, download: `${of}.${ending}` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    });
    dialog(`${name}: ${of}`, area, make('p', { class: 'buttons' }, copy, save));
    area.select();
  };
  const open = button('Copy as…', () => {
    const place = open.getBoundingClientRect();
    menu(place.left, place.bottom, all.map(([name, ending, write]) => [name, () => void show(name, ending, write)]));
  }, { class: 'offers', 'aria-haspopup': 'menu' });
  return open;
}

/** What an answer offers: the command, its statement, and its rows. @param {import('./actions.js').Context & {command: any}} context @param {string} report
 * @param {() => import('./ask.js').Answer | Promise<import('./ask.js').Answer>} answerOf */
export function offers(context, report, answerOf) {
  const { run, command } = context;
  const of = (/** @type {(answer: import('./ask.js').Answer) => string | Promise<string>} */ write) => async () => write(await answerOf());
  return offerTexts(report, [
    ['Command', 'txt', of((answer) => `${commandOf(command, run, answer)}\n`)],
    ['SQL', 'sql', of((answer) => sqlOf(run, answer))],
    ['JSON', 'json', of((answer) => jsonOf(run, answer))],
    ['CSV', 'csv', of(csvOf)],
    ['Markdown', 'md', of(markdownOf)],
  ]);
}
