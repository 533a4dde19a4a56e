// What the page shows, in the fragment of its address: the command's own flags, and how they are looked at. The browser's
// history is the history of questions.

/** @typedef {Record<string, string>} State */

/** Flags of commands, and after them what only the page knows, with what is meant where it is left out. */
const USUAL = {
  view: 'panes',
  report: 'summary',
  run: '',
  uid: '',
  metric: '',
  fn: '',
  label: '',
  exclusive: '',
  'percent-of': 'total',
  functions: 'pie',
  lines: 'table',
  function: '',
  'line-of': '',
  line: '',
  blank: 'shown',
  uncalled: 'shown',
  window: '',
  layout: 'icicle',
  order: 'cost',
  search: '',
  place: '',
  module: '',
  status: 'all',
  verdict: '',
  width: 'both',
  colour: '',
  point: '',
  zero: '',
  sql: '',
  base: '',
  new: '',
};

/** What is shown where the address says nothing. @param {string} view */
export function usualView(view) {
  USUAL.view = view;
}

/** @param {string} fragment @returns {State} */
export function readState(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#/, ''));
  /** @type {State} */
  const state = { ...USUAL };
  for (const [key, value] of given) if (Object.hasOwn(USUAL, key)) state[key] = value;
  // A flag without a value is set, as on the command line.
  const isExclusive = given.has('exclusive') && ['', 'yes', 'true'].includes(state.exclusive);
  return { ...state, exclusive: isExclusive ? 'yes' : '', label: labelText(given.getAll('label')) };
}

/** Labels as one text, and back. @param {string[]} labels */
export function labelText(labels) {
  return labels.map(encodeURIComponent).join('&');
}

/** @param {State} state @returns {string[]} */
export function labelsOf({ label }) {
  return label === '' ? [] : label.split('&').map(decodeURIComponent);
}

/** What a view asks, as the address has it. @param {State} state @param {string} report @param {object} [more] @returns {import('./ask.js').Question} */
export function questionOf(state, report, more = {}) {
  return { report, metric: state.metric || undefined, fn: state.fn || undefined, percentOf: state['percent-of'], label: labelsOf(state), ...more };
}

/** @param {State} state */
export function writeState(state) {
  const given = new URLSearchParams();
  for (const [key, usual] of Object.entries(USUAL)) {
    if (key === 'label') for (const label of labelsOf(state)) given.append(key, label);
    else if (state[key] !== usual) given.set(key, state[key]);
  }
  return `#${given}`;
}
