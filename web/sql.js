// SQL of the reader's own.
import { button, div, make, note, span } from './dom.js';
import { csvOf, jsonOfRows, markdownOf, plainRows } from './formats.js';
import { offerTexts } from './rows.js';
import { mostOf } from './sums.js';
import { table } from './table.js';
import { Unanswered, plain, quoted, shellWord } from './texts.js';

/** What is asked at first. */
const FIRST = "SELECT function, exclusive, pct FROM exclusive WHERE run_id = 1 AND metric = 'time' AND rank <= 20";

/** Bytes as SQL has them. @param {Uint8Array} bytes */
const bytesAsText = (bytes) => `x'${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}'`;

/** A value as it is shown. @param {any} value */
function cellOf(value) {
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return value.length > 16 ? `${bytesAsText(value.subarray(0, 16)).slice(0, -1)}…'` : bytesAsText(value);
  return plain(String(value));
}

/** A statement about this run instead of that of the documents. @param {any} context @param {string} sql @param {string} top */
function adapted({ run }, sql, top) {
  return sql
    .replaceAll(/\brun_id = 1\b/g, `run_id = ${run.number}`)
    .replaceAll("'time'", () => quoted(run.about.default_metric ?? 'time'))
    .replaceAll("'parse'", () => quoted(top));
}

/** The view. `context.sqlite` answers statements. @param {any} context */
export async function sqlView(context) {
  const { run, go, state, sqlite, command, questions } = context;
  await run.open();
  /** @type {import('./sums.js').Sums | null} */
  const sums = await run.functions(0).catch(() => null);
  const code = sums ? sums.keys.filter((of) => run.isCode(of)) : [];
  const [most] = mostOf(code, (of) => sums?.exclusive[of] ?? 0, 1);
  const top = most === undefined ? 'parse' : run.names.name[most];
  const examples = make('select', {
    'aria-label': 'Examples',
    onchange: () => {
      if (examples.value === '') return;
      text.value = adapted(context, questions[Number(examples.value)][1], top);
      text.focus();
    },
  });
  examples.append(make('option', { value: '', text: 'Examples…' }));
  questions.forEach((/** @type {[string, string]} */ [question], /** @type {number} */ at) => examples.append(make('option', { value: String(at), text: question })));
  const text = make('textarea', {
    rows: 4,
    spellcheck: 'false',
    'aria-label': 'SQL',
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      void ask();
    },
  });
  text.value = state.sql === '' ? adapted(context, FIRST, top) : state.sql;
  const said = make('output', { class: 'found', 'aria-live': 'polite' });
  const cut = make('p', { class: 'warning cut' });
  const place = div('rows-place');
  /** @type {{columns: string[], rows: any[][], more: string | null, sql: string} | null} */
  let answer = null;
  const stop = button('Stop', () => sqlite.stop('The statement was stopped.'), { disabled: true });
  const run_ = button('Run', () => ask(), { class: 'main' });
  const now = () => answer ?? { columns: [], rows: [], sql: text.value, more: null };
  const values = () => now().rows.map((row) => row.map((value) => (value instanceof Uint8Array ? bytesAsText(value) : value)));
  const offered = offerTexts(
    'sql',
    [
      ['Command', 'txt', () => `${['profdb', 'sql', now().sql, ...(command.names_run ? [] : command.words)].map(shellWord).join(' ')}\n`],
      ['SQL', 'sql', () => `${now().sql}\n`],
      ['JSON', 'json', () => jsonOfRows(now().columns, values())],
      ['CSV', 'csv', () => csvOf(plainRows(now().columns, values()))],
      ['Markdown', 'md', () => markdownOf(plainRows(now().columns, values()))],
    ],
    () => now().more,
  );
  offered.disabled = true;
  const ask = async () => {
    const sql = text.value.trim();
    if (sql === '' || run_.disabled) return;
    go({ sql }, true);
    [run_.disabled, stop.disabled, offered.disabled] = [true, false, true];
    const before = performance.now();
    try {
      const { columns, rows, more } = await sqlite.ask(sql, (/** @type {string} */ words) => (said.textContent = words));
      answer = { columns, rows, sql, more: more === null ? null : `${more}; the command prints all.` };
      const took = Math.round(performance.now() - before);
      said.textContent = `${more !== null ? `the first ${rows.length} rows` : rows.length === 1 ? '1 row' : `${rows.length} rows`} in ${took} ms`;
      cut.textContent = answer.more ?? '';
      place.replaceChildren(resultTable(columns, rows));
      offered.disabled = false;
    } catch (error) {
      [said.textContent, cut.textContent] = ['', ''];
      if (!(error instanceof Unanswered)) console.error(error);
      place.replaceChildren(make('p', { class: 'warning', role: 'alert', text: plain(/** @type {Error} */ (error).message) }));
    }
    [run_.disabled, stop.disabled] = [false, true];
    element.dataset.asked = String(Number(element.dataset.asked ?? 0) + 1);
  };
  const left = [
    run.about.left?.places || run.about.left?.lines ? 'The tree of this page is incomplete (see Overview): views tree, function_tree, subtrees and ancestors have fewer rows than in the database.' : '',
    run.about.left?.lines ? 'The page had no room for lines: table line_info and its views are empty.' : '',
    run.about.left?.labels ? 'The page had no room for labels: table node_labels and its views are empty.' : '',
  ];
  const element = make(
    'section',
    { class: 'sql', 'aria-label': 'SQL' },
    note('The tables and views of profdb, in SQLite. Up to 1000 rows are shown.'),
    ...left.filter((text) => text !== '').map(note),
    text,
    div('bar-of-view', run_, stop, questions.length > 0 ? examples : null, said, span('room'), offered),
    cut,
    place,
  );
  if (state.sql !== '') void ask();
  return { element, update: () => undefined, small: ['sql'] };
}

/** @param {string[]} columns @param {any[][]} rows */
function resultTable(columns, rows) {
  const isNumber = columns.map((_, at) => rows.some((row) => typeof row[at] === 'number' || typeof row[at] === 'bigint') && !rows.some((row) => typeof row[at] === 'string'));
  return table({
    label: 'Rows',
    items: rows,
    columns: columns.map((title, at) => ({
      title: plain(title),
      isLeft: !isNumber[at],
      value: (row) => row[at],
      show: cellOf,
    })),
  });
}
