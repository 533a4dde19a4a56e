// What can be done with a function wherever it is shown: Dyalog's gestures, by mouse and by keys.
import { menu } from './dom.js';
import { parsePath, writePath } from './path.js';
import { Unanswered } from './texts.js';

/** @typedef {{select?: (of: any) => void, leaves?: boolean, open?: (of: any, isDirect: boolean, isInstead?: boolean) => void, menu?: (of: any, x: number, y: number) => void, key?: (of: any, key: string) => boolean}} Handle What is done with a row, a piece or a box. Where selecting leaves the view, arrows only go through it; what is opened may come instead of what its first click has led to. */
/** @typedef {{state: import('./state.js').State, run: import('./profile.js').Run, go: (changes: Record<string, string>, isSmall?: boolean) => void, say: (text: string) => void}} Context */

/** The steps of the path; none of one that cannot be read, of which the view says what is wrong. @param {Context} context */
export function stepsOf({ state, run }) {
  try {
    return state.fn === '' ? [] : parsePath(state.fn, (name) => run.knows(name));
  } catch (error) {
    if (error instanceof Unanswered) return [];
    throw error;
  }
}

/** What can be done. @param {Context} context */
export function actionsOf(context) {
  const { state, run, go, say } = context;
  const known = (/** @type {string} */ name) => run.knows(name);
  const steps = stepsOf(context);
  const isCalls = state.report === 'calls';
  const away = { function: '', 'line-of': '', line: '', place: '' };
  const to = (/** @type {import('./path.js').Step[]} */ path, /** @type {string} */ report, isInstead = false) =>
    go({ ...away, fn: path.length === 0 ? '' : writePath(path, known), report }, isInstead);
  /** The same from a view that may show nothing of it. @type {typeof to} */
  const look = (path, report, isInstead = false) => {
    const isSeen = report === 'calls' ? ['panes', 'calls', 'flame'].includes(state.view) : state.view !== 'overview';
    if (isSeen) return to(path, report, isInstead);
    go({ ...away, fn: writePath(path, known), report, view: '' }, isInstead);
  };
  const step = (/** @type {number} */ of, /** @type {',' | '>'} */ operator) => ({ operator, name: run.textOf(of) });
  const isStep = (/** @type {import('./path.js').Step | undefined} */ step, /** @type {number} */ of) => {
    const functions = step ? run.named(step.name) : [];
    return functions.length === 1 && functions[0] === of;
  };
  const actions = {
    steps,
    /** @param {number} of @param {boolean} [isDirect] @param {boolean} [isInstead] */
    drill(of, isDirect = false, isInstead = false) {
      if (isCalls) say('Callers have no calls below them: go up one level first.');
      else if (isDirect && steps.length === 0) say('A direct call needs a caller: drill down first.');
      else if (isStep(steps.at(-1), of) && !isDirect) say('This function is already shown.');
      // Without paths nothing is known of calls within calls.
      else look([...(run.isTree ? steps : []), step(of, isDirect ? '>' : ',')], 'summary', isInstead);
    },
    /** @param {number} of */
    root(of) {
      look([step(of, ',')], 'summary');
    },
    /** @param {number} of */
    calls(of) {
      if (run.isFlat) return say('The file has totals only; callers are unknown.');
      const above = isCalls ? steps.slice(0, -1) : steps;
      const path = isStep(above.at(-1), of) ? above : [...above, step(of, ',')];
      look(run.isTree ? path : [step(of, ',')], 'calls');
    },
    /** Shows who called what the path ends with. */
    showCalls() {
      look(steps, 'calls');
    },
    reset() {
      to([], 'summary');
    },
    up() {
      to(steps.slice(0, -1), 'summary');
    },
    /** Goes back to one of the steps. @param {number} count How many are left. */
    crumb(count) {
      to(steps.slice(0, count), 'summary');
    },
  };
  return actions;
}

/** What mouse and keys do on rows. @param {Context} context @param {(row: number) => number} functionOf The function of a row, -1 for none.
 * @param {(row: number) => void} select @param {boolean} [leaves] @returns {Handle} */
export function handleOf(context, functionOf, select, leaves = false) {
  const { run, go } = context;
  const actions = actionsOf(context);
  const on = (/** @type {number} */ row, /** @type {(of: number) => void} */ act) => {
    const of = functionOf(row);
    if (of >= 0) act(of);
    else context.say('This is not a function.');
  };
  return {
    select,
    leaves,
    open: (row, isDirect, isInstead) => on(row, (of) => actions.drill(of, isDirect, isInstead)),
    menu(row, x, y) {
      const of = functionOf(row);
      const isCalls = context.state.report === 'calls';
      const item = (/** @type {(of: number) => void} */ act, isOff = false) => (of < 0 || isOff ? null : () => act(of));
      menu(x, y, [
        ['Drill Down', item((of) => actions.drill(of), isCalls)],
        ['Drill Down, direct calls only', item((of) => actions.drill(of, true), isCalls || actions.steps.length === 0)],
        ['Make Root', item(actions.root)],
        ['Show Calls', item(actions.calls, run.isFlat)],
        ['Callers and callees', item((of) => go({ view: 'calls', function: run.textOf(of) }), run.isFlat)],
        ['Source', item((of) => go({ view: 'source', function: run.textOf(of) }))],
        ['Reset', () => actions.reset()],
        ['Up 1 Level', actions.steps.length > 0 ? () => actions.up() : null],
      ]);
    },
    key(row, key) {
      if (key === 'r') on(row, actions.root);
      else if (key === 'c') on(row, actions.calls);
      else return false;
      return true;
    },
  };
}
