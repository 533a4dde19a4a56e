// The runs of a database: one is chosen, two are compared, all of them are a history. Only a server has them all.
import { button, div, make, note, span } from './dom.js';
import { figure } from './numbers.js';
import { offerTexts } from './rows.js';
import { fetched } from './served.js';
import { table } from './table.js';
import { Unanswered, plain, shellWord } from './texts.js';
import { Told } from './told.js';

/** Where a run begins to be looked at. */
const START = { fn: '', metric: '', report: 'summary', function: '', 'line-of': '', line: '', place: '' };

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
  const tags = known.slice(known.indexOf('unit') + 1);
  const element = make('section', { class: 'runs', 'aria-label': 'Runs' });
  const look = (/** @type {any} */ row) => go({ ...START, run: String(row.run_id), view: 'panes' });
  const pick = (/** @type {'base' | 'new'} */ side, /** @type {any} */ row) => go({ [side]: String(row.run_id) });
  const shownOf = (/** @type {any} */ value) => (value === null || value === undefined ? '' : plain(String(value)));
  const columns = [
    { title: 'Run', isText: true, value: (/** @type {any} */ row) => row.run_id, show: (/** @type {any} */ id, /** @type {any} */ row) => `${id}: ${shownOf(row.run)}` },
    { title: 'Total', value: (/** @type {any} */ row) => row.total, show: (/** @type {any} */ total, /** @type {any} */ row) => (total === null ? '-' : figure('', row.unit, total)) },
    ...['functions', 'nodes', 'format', 'imported_at', ...tags].map((name) => ({ title: plain(name), isLeft: rows.some((row) => typeof row[name] === 'string'), value: (/** @type {any} */ row) => row[name], show: shownOf })),
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
  const grid = /** @type {any} */ (table({ label: 'Runs', items: rows, columns, handle, isSelected: (row) => row === chosen() }));
  let compared = '';
  const update = () => {
    const one = chosen();
    const { base, new: fresh } = context.state;
    const name = one ? `run ${one.run_id}` : '';
    tools.replaceChildren(
      button(`Open ${name}`, () => look(one), { disabled: !one }),
      button(`Compare with ${name} (b)`, () => pick('base', one), { disabled: !one }),
      button(`Compare ${name} (n)`, () => pick('new', one), { disabled: !one }),
      button(`What changed${base && fresh ? ` from ${plain(base)} to ${plain(fresh)}` : ''}`, () => go({ view: 'diff' }), { disabled: base === '' || fresh === '' }),
      button('Flame graph of both', () => go({ view: 'union' }), { disabled: base === '' || fresh === '' }),
      button('History', () => go({ view: 'history', function: '' })),
      span('room'),
      offered,
    );
    const sides = JSON.stringify([base, fresh]);
    if (sides === compared) grid.refresh();
    else grid.renew();
    compared = sides;
  };
  update();
  const count = note(`${rows.length === 1 ? '1 run' : `${rows.length} runs`} in ${plain(about.database)}. A double click opens one.`);
  element.append(make('h2', { text: 'Runs' }), count, tools, grid);
  return { element, update, small: ['point', 'base', 'new'] };
}
