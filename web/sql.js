// SQL of the reader's own.
import { button, make } from './dom.js';
import { table } from './table.js';
import { Unanswered, plain } from './texts.js';

/** The view. `context.sqlite` answers statements. @param {any} context */
export async function sqlView(context) {
  const { go, state, run, sqlite } = context;
  const text = make('textarea', {
    rows: 6,
    spellcheck: 'false',
    'aria-label': 'SQL',
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      void ask();
    },
  });
  text.value = state.sql === '' ? `SELECT function, exclusive, pct FROM exclusive WHERE run_id = ${run.number} AND rank <= 20` : state.sql;
  const said = make('output', { class: 'found', 'aria-live': 'polite' });
  const place = make('div', { class: 'rows-place' });
  const stop = button('Stop', () => sqlite.stop('The statement was ended.'), { disabled: true });
  const start = button('Run', () => void ask(), { class: 'main' });
  const ask = async () => {
    const sql = text.value.trim();
    if (sql === '' || start.disabled) return;
    go({ sql }, true);
    [start.disabled, stop.disabled] = [true, false];
    try {
      const { columns, rows, isMore } = await sqlite.ask(sql, (/** @type {string} */ words) => (said.textContent = words));
      said.textContent = `${isMore ? 'the first ' : ''}${rows.length === 1 ? '1 row' : `${rows.length} rows`}`;
      place.replaceChildren(
        table({
          label: 'Rows',
          count: rows.length,
          columns: columns.map((/** @type {string} */ title, /** @type {number} */ at) => ({
            title: plain(title),
            text: (/** @type {number} */ row) => (rows[row][at] === null ? 'NULL' : plain(String(rows[row][at]))),
            value: (/** @type {number} */ row) => rows[row][at],
          })),
        }),
      );
    } catch (error) {
      said.textContent = '';
      if (!(error instanceof Unanswered)) console.error(error);
      place.replaceChildren(make('p', { class: 'warning', role: 'alert', text: plain(/** @type {Error} */ (error).message) }));
    }
    [start.disabled, stop.disabled] = [false, true];
    element.dataset.asked = String(Number(element.dataset.asked ?? 0) + 1);
  };
  const element = make('section', { class: 'sql', 'aria-label': 'SQL' }, text, make('div', { class: 'bar-of-view' }, start, stop, said), place);
  if (state.sql !== '') void ask();
  return { element, update: () => undefined, small: ['sql'] };
}
