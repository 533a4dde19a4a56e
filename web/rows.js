// Answers as tables, and what is offered of them.
import { countOf, labelOfRow, shareOf, sideOf, sqlOf } from './ask.js';
import { button, copyButton, dialog, make, menu, note } from './dom.js';
import { ofColumn, percent, rounded } from './numbers.js';
import { commandOf, textOf } from './offer.js';
import { table } from './table.js';
import { Unanswered, plain, shown } from './texts.js';

/** Rows of an answer with their cost, share and calls. @param {import('./profile.js').Run} run @param {import('./ask.js').Answer} answer @param {string} label
 * @param {import('./actions.js').Handle} handle @param {(row: number) => boolean} isSelected @param {string} title */
export function costTable(run, answer, label, handle, isSelected, title) {
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
      { title, isText: true, value: (row) => labelOfRow(run, answer, row), show: shown, tip: (row) => tipOf(run, sideOf(answer, row).functions[row]) },
      { title: `${scale.title}${header.exclusive ? ' exclusive' : ''}`, value: (row) => cell(row, cost), show: (value) => rounded(scale, value) },
      { title: '%', value: share, show: percent, share },
      ...(hasCalls ? [{ title: 'Calls', value: (/** @type {number} */ row) => cell(row, calls) }] : []),
    ],
  });
}

/** Returns the tip of a row: the name of its function and the place of the definition. @param {import('./profile.js').Run} run @param {number} of */
function tipOf(run, of) {
  if (of < 0) return '';
  const { file, line } = run.names;
  const place = file[of] === '' ? '' : `\n${plain(file[of])}${line[of] > 0 ? `:${line[of]}` : ''}`;
  return shown(run.names.name[of]) + place;
}

/** Characters of a text that are shown. */
const MOST_SHOWN = 1000000;

/** A button with a menu of texts, which are shown to be copied or kept. @param {string} of What they are of.
 * @param {[string, string, () => string | Promise<string>][]} all Names, endings of files, and the texts. @param {() => string | null} [remark] What is said of rows. */
export function offerTexts(of, all, remark = () => null) {
  const show = async (/** @type {string} */ name, /** @type {string} */ ending, /** @type {() => string | Promise<string>} */ write) => {
    let text;
    try {
      text = await write();
    } catch (error) {
      if (!(error instanceof Unanswered)) console.error(error);
      dialog(`${name}: ${of}`, note(plain(/** @type {Error} */ (error).message)));
      return;
    }
    const said = ['JSON', 'CSV', 'Markdown'].includes(name) ? remark() : null;
    // Browsers take long for longer ones, of which nobody reads all.
    const isLong = text.length > MOST_SHOWN;
    const area = make('textarea', { readonly: true, rows: 14, cols: 90, 'aria-label': name, spellcheck: 'false' });
    area.value = isLong ? text.slice(0, MOST_SHOWN) : text;
    const copy = copyButton(text, () => area.select());
    const save = button('Save', () => {
      const url = URL.createObjectURL(new Blob([text]));
      make('a', { href: url, download: `${of}.${ending}` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    });
    dialog(`${name}: ${of}`, ...(said === null ? [] : [note(said)]), ...(isLong ? [note(`The first ${MOST_SHOWN} of ${text.length} characters; "Copy" and "Save" include all.`)] : []), area, make('p', { class: 'buttons' }, copy, save));
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
    ['JSON', 'json', of((answer) => textOf(run, answer, 'json'))],
    ['CSV', 'csv', of((answer) => textOf(run, answer, 'csv'))],
    ['Markdown', 'md', of((answer) => textOf(run, answer, 'markdown'))],
  ]);
}
