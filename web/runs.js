// The runs of a database: one is chosen, two are compared, all of them are a history. Only a server has them all.
import { button, make } from './dom.js';
import { figure } from './numbers.js';
import { fetched } from './served.js';
import { table } from './table.js';
import { Unanswered, plain, shellWord } from './texts.js';

/** Where a run begins to be looked at. */
const START = { fn: '', metric: '', report: 'summary', function: '', 'line-of': '', line: '', place: '' };

/** An answer of a command about several runs, which the server is asked for when it is first shown. */
export class Asked {
  /** @param {string} view The command: diff, history or steps. @param {string[]} words Those of the command. @param {Record<string, string | undefined>} parameters The same for the server. @param {string} missing What is said where the question is not complete; else ''. */
  constructor(view, words, parameters, missing) {
    this.about = { view, words, sql: null, lines: [] };
    this.view = view;
    this.parameters = parameters;
    this.missing = missing;
    /** @type {Promise<any> | null} */
    this.kept = null;
  }

  /** The command that gives it. */
  get command() {
    return ['profdb', ...this.about.words].map(shellWord).join(' ');
  }

  /** The object that the command writes. @returns {Promise<any>} */
  answer() {
    if (this.missing !== '') return Promise.reject(new Unanswered(this.missing));
    this.kept ??= fetched(this.view, this.parameters).then((response) => response.json());
    return this.kept;
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
  return [
    new Asked('diff', ['diff', ...words, '--base', state.base, '--new', state.new, ...metric], { base: keyOf(state.base), new: keyOf(state.new), ...shared }, state.base === '' || state.new === '' ? 'Choose two runs to compare, in Runs.' : ''),
    new Asked('history', ['history', ...words, '--steps', ...metric, ...(name === undefined ? [] : ['--', name])], { steps: 'yes', fn: name, ...shared }, ''),
    new Asked('steps', ['steps', ...words, ...metric], shared, ''),
  ];
}

/** The view of the runs. @param {any} context */
export async function runsView(context) {
  const { run, state, go, about } = context;
  const list = await (await fetched('runs', {})).json();
  /** @type {Record<string, any>[]} */
  const rows = list.rows.toReversed();
  const known = Object.keys(rows[0] ?? {});
  const tags = known.slice(known.indexOf('unit') + 1);
  const element = make('section', { class: 'runs', 'aria-label': 'Runs' });
  const look = (/** @type {number} */ row) => go({ ...START, run: String(rows[row].run_id), view: 'panes' });
  const pick = (/** @type {'base' | 'new'} */ side, /** @type {number} */ row) => go({ [side]: String(rows[row].run_id) });
  const isSide = (/** @type {string} */ side, /** @type {number} */ row) => state[side] === String(rows[row].run_id);
  const shownOf = (/** @type {any} */ value) => (value === null || value === undefined ? '' : plain(String(value)));
  const columns = [
    { title: 'Run', isText: true, text: (/** @type {number} */ row) => `${rows[row].run_id}: ${shownOf(rows[row].run)}`, value: (/** @type {number} */ row) => rows[row].run_id },
    { title: 'Total', text: (/** @type {number} */ row) => (rows[row].total === null ? '-' : figure('', rows[row].unit, rows[row].total)), value: (/** @type {number} */ row) => rows[row].total },
    ...['functions', 'nodes', 'format', 'imported_at', ...tags].map((name) => ({ title: plain(name), text: (/** @type {number} */ row) => shownOf(rows[row][name]), value: (/** @type {number} */ row) => rows[row][name] })),
    { title: 'Compared', text: (/** @type {number} */ row) => [isSide('base', row) ? 'base' : '', isSide('new', row) ? 'new' : ''].filter(Boolean).join(', ') },
  ];
  const handle = {
    select: (/** @type {number} */ row) => go({ point: String(rows[row].run_id) }),
    open: look,
    menu: () => undefined,
    key(/** @type {number} */ row, /** @type {string} */ key) {
      if (key === 'b') pick('base', row);
      else if (key === 'n') pick('new', row);
      else return false;
      return true;
    },
  };
  const chosen = rows.findIndex((row) => String(row.run_id) === state.point);
  const at = chosen < 0 ? rows.findIndex((row) => row.run_id === run?.number) : chosen;
  const name = at < 0 ? '' : `run ${rows[at].run_id}`;
  const tools = make(
    'div',
    { class: 'bar-of-view buttons' },
    button(`Open ${name}`, () => look(at), { disabled: at < 0 }),
    button(`Compare with ${name} (b)`, () => pick('base', at), { disabled: at < 0 }),
    button(`Compare ${name} (n)`, () => pick('new', at), { disabled: at < 0 }),
    button(`What changed${state.base && state.new ? ` from ${state.base} to ${state.new}` : ''}`, () => go({ view: 'diff' }), { disabled: state.base === '' || state.new === '' }),
    button('History', () => go({ view: 'history', function: '' })),
  );
  const count = make('p', { class: 'said', text: `${rows.length === 1 ? '1 run' : `${rows.length} runs`} in ${plain(about.database)}. A double click opens one.` });
  element.append(make('h2', { text: 'Runs' }), count, tools, table({ label: 'Runs', count: rows.length, columns, handle, isSelected: (row) => row === at }));
  return { element };
}
