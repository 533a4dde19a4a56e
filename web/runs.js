// The runs of a database: one is chosen, two are compared, all of them are a history. Only a server has them all.
import { button, div, make, note, searchBox, span } from './dom.js';
import { figure } from './numbers.js';
import { offerTexts } from './rows.js';
import { fetched } from './served.js';
import { table } from './table.js';
import { Unanswered, plain, shellWord, shortCommit } from './texts.js';
import { Told } from './told.js';

/** Where a run begins to be looked at. */
const START = { view: '', fn: '', metric: '', report: 'summary', function: '', 'line-of': '', line: '', place: '' };

/** An answer of a command about several runs, which the server is asked for when it is first shown. */
export class Asked extends Told {
  /** @param {string} view Diff, history or steps, which are also the names of commands. @param {string[]} words Those of the command. @param {Record<string, string | undefined>} parameters The same for the server. @param {string} missing What is said where the question is not complete; else ''. @param {string} [path] Where the server is asked, where that is not the name of the view. */
  constructor(view, words, parameters, missing, path = view) {
    super({ view, words, sql: null, lines: [] }, 0);
    this.parameters = parameters;
    this.missing = missing;
    this.path = path;
  }

  /** The statement of the command. @returns {Promise<string | null>} */
  async statement() {
    return this.missing === '' ? (await fetched(this.path, { ...this.parameters, 'show-sql': 'yes' })).text() : null;
  }

  /** What the command writes in a format. @param {string} format @returns {Promise<string>} */
  async text(format) {
    if (this.missing !== '') throw new Unanswered(this.missing);
    return (await fetched(this.path, { ...this.parameters, format })).text();
  }
}

/** The trees of two runs as one, which the server puts together when they are first shown. */
export class AskedTrees extends Asked {
  /** @param {string[]} words @param {Record<string, string | undefined>} parameters @param {string} missing */
  constructor(words, parameters, missing) {
    super('union', words, parameters, missing, 'report/diff_tree');
  }

  /** What is known of them, and the block of a name. @returns {Promise<[any, (name: string) => Promise<Uint8Array>]>} */
  async trees() {
    if (this.missing !== '') throw new Unanswered(this.missing);
    const about = await (await fetched('union', this.parameters)).json();
    const block = async (/** @type {string} */ name) => new Uint8Array(await (await fetched('union', { ...this.parameters, block: name })).arrayBuffer());
    return [about, block];
  }
}

/** What can be asked about several runs. @param {import('./state.js').State} state @param {any} about */
export function askedOf(state, about) {
  const { words } = about.command;
  // A number may be another run's by now: the server is asked by what no other run has.
  const keyOf = (/** @type {string} */ set) => about.runs.find((/** @type {any} */ run) => String(run.run_id) === set)?.uid ?? set;
  const metric = state.metric === '' ? [] : ['--metric', state.metric];
  const shared = { metric: state.metric || undefined };
  const name = state.function === '' ? undefined : `"${state.function.replaceAll('"', '""')}"`;
  const [sides, named] = [{ base: keyOf(state.base), new: keyOf(state.new), ...shared }, ['--base', state.base, '--new', state.new]];
  const missing = state.base === '' || state.new === '' ? 'Choose two runs to compare, in Runs.' : '';
  return [
    new Asked('diff', ['diff', ...words, ...named, ...metric], sides, missing),
    new AskedTrees(['report', 'diff_tree', ...words, ...named, ...metric], sides, missing),
    new Asked('history', ['history', ...words, '--steps', ...metric, ...(name === undefined ? [] : ['--', name])], { steps: 'yes', fn: name, ...shared }, ''),
    new Asked('steps', ['steps', ...words, ...metric], shared, ''),
  ];
}

/** The view of the runs. @param {any} context */
export async function runsView(context) {
  const { run, go, about } = context;
  const list = await (await fetched('runs', {})).json();
  /** @type {Record<string, any>[]} */
  const rows = list.rows.toReversed();
  const known = Object.keys(rows[0] ?? {});
  const tags = known.slice(known.indexOf('unit') + 1).filter((name) => name !== 'run_uid');
  const element = make('section', { class: 'runs', 'aria-label': 'Runs' });
  const look = (/** @type {any} */ row) => go({ ...START, run: String(row.run_id) });
  const pick = (/** @type {'base' | 'new'} */ side, /** @type {any} */ row) => go({ [side]: String(row.run_id) });
  const shownOf = (/** @type {any} */ value) => (value === null || value === undefined ? '' : plain(String(value)));
  const shortened = (/** @type {string} */ name, /** @type {string} */ text) => (name === 'commit' ? shortCommit(text) : name === 'imported_at' ? text.slice(0, 16).replace('T', ' ') : text);
  const nameOf = (/** @type {any} */ row) => `${row.run_id}: ${shownOf(row.run)}`;
  const columns = [
    { title: 'Run', isText: true, value: (/** @type {any} */ row) => row.run_id, show: (/** @type {any} */ _, /** @type {any} */ row) => nameOf(row), tip: nameOf },
    { title: 'Total', value: (/** @type {any} */ row) => row.total, show: (/** @type {any} */ total, /** @type {any} */ row) => (total === null ? '-' : figure('', row.unit, total)) },
    ...[...tags, 'functions', 'nodes', 'format', 'imported_at'].map((name) => ({ title: plain(name), isLeft: rows.some((row) => typeof row[name] === 'string'), value: (/** @type {any} */ row) => row[name], show: (/** @type {any} */ value) => shortened(name, shownOf(value)), tip: (/** @type {any} */ row) => shownOf(row[name]) })),
    { title: 'uid', isLeft: true, value: (/** @type {any} */ row) => row.run_uid, show: (/** @type {string} */ uid) => uid.slice(0, 8), tip: (/** @type {any} */ row) => row.run_uid },
    { title: 'Compared', isLeft: true, value: (/** @type {any} */ row) => ['base', 'new'].filter((side) => context.state[side] === String(row.run_id)).join(', ') },
  ];
  const handle = {
    select: (/** @type {any} */ row) => go({ point: String(row.run_id) }, true),
    open: look,
    key(/** @type {any} */ row, /** @type {string} */ key) {
      if (key === 'b') pick('base', row);
      else if (key === 'n') pick('new', row);
      else return false;
      return true;
    },
  };
  const chosen = () => rows.find((row) => String(row.run_id) === context.state.point) ?? rows.find((row) => row.run_id === run?.number);
  const offered = offerTexts('runs', [
    ['Command', 'txt', () => `${['profdb', 'runs', ...about.command.words].map(shellWord).join(' ')}\n`],
    ['SQL', 'sql', () => 'SELECT * FROM run_list ORDER BY run_id;\n'],
    .../** @type {[string, string, string][]} */ ([['JSON', 'json', 'json'], ['CSV', 'csv', 'csv'], ['Markdown', 'md', 'markdown']]).map(
      ([name, ending, format]) => /** @type {[string, string, () => Promise<string>]} */ ([name, ending, async () => (await fetched('runs', { format })).text()]),
    ),
  ]);
  const tools = div('bar-of-view buttons');
  const place = div('rows-place');
  const count = note('');
  /** @type {any} */
  let grid;
  /** @type {string | null} */
  let filtered = null;
  /** Shows the runs of which the name, a tag or another fact has each of the words. @param {string} search */
  const filter = (search) => {
    filtered = search;
    const words = search.toLowerCase().split(/\s+/);
    const items = rows.filter((row) => {
      const text = `${nameOf(row)}\n${Object.entries(row).map(([name, value]) => `${name}=${value}`).join('\n')}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    place.replaceChildren((grid = table({ label: 'Runs', items, columns, handle, isSelected: (row) => row === chosen() })));
    const all = rows.length === 1 ? '1 run' : `${rows.length} runs`;
    count.textContent = `${items.length === rows.length ? all : `${items.length} of ${all}`} in ${plain(about.database)}. Double-click a run to open it.`;
  };
  let compared = '';
  const update = () => {
    const one = chosen();
    const { base, new: fresh } = context.state;
    const name = one ? `run ${one.run_id}` : '';
    tools.replaceChildren(
      button(`Open ${name}`, () => look(one), { disabled: !one }),
      button(`Use ${name} as base (b)`, () => pick('base', one), { disabled: !one }),
      button(`Use ${name} as new (n)`, () => pick('new', one), { disabled: !one }),
      button(`What changed${base && fresh ? ` from ${plain(base)} to ${plain(fresh)}` : ''}`, () => go({ view: 'diff' }), { disabled: base === '' || fresh === '' }),
      button('Flame graph of both', () => go({ view: 'union' }), { disabled: base === '' || fresh === '' }),
      button('History', () => go({ view: 'history', function: '' })),
      span('room'),
      offered,
    );
    const sides = JSON.stringify([base, fresh]);
    if (context.state.search !== filtered) filter(context.state.search);
    else if (sides === compared) grid.refresh();
    else grid.renew();
    compared = sides;
  };
  update();
  const search = searchBox(context.state, go, undefined, 'Filter by name, tag=value, …');
  element.append(make('h2', { text: 'Runs' }), count, div('bar-of-view', ...(rows.length > 1 ? [search] : [])), tools, place);
  return { element, update, small: ['point', 'base', 'new', 'search'] };
}
