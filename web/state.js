// What the page shows, in the fragment of its address: the command's own flags, and how they are looked at. The browser's
// history is the history of questions.

import { SIGNS } from './judged.js';
import { plain } from './texts.js';

/** @typedef {Record<string, string>} State */

/** Flags of commands, and after them what only the page knows, with what is meant where it is left out. */
const USUAL = {
  view: '',
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

/** What may be said of what has no other words: those of drop-downs. Views are those of the page. @type {Record<string, string[]>} */
const WORDS = {
  view: [],
  report: ['summary', 'calls'],
  exclusive: ['yes', 'no'],
  'percent-of': ['total', 'selection'],
  functions: ['pie', 'table'],
  lines: ['pie', 'table'],
  blank: ['shown', 'hidden'],
  uncalled: ['shown', 'hidden'],
  window: ['functions', 'function-details', 'lines', 'line-details'],
  layout: ['icicle', 'flame', 'sandwich'],
  order: ['cost', 'name', 'file'],
  status: ['all', 'both', 'new', 'gone'],
  verdict: Object.keys(SIGNS),
  width: ['both', 'new', 'base'],
  colour: ['verdict', 'change'],
  zero: ['yes', 'no'],
};

/** Sets the views that an address may name. @param {string[]} views */
export function knowViews(views) {
  WORDS.view = views;
}

/** Whether it can be said of this. @param {string} key @param {string} value */
function isKnown(key, value) {
  return Object.hasOwn(USUAL, key) && (value === '' || !Object.hasOwn(WORDS, key) || WORDS[key].includes(value));
}

/** @param {string} fragment */
function given(fragment) {
  const pairs = new URLSearchParams(fragment.replace(/^#/, ''));
  // A flag without a value is set, as on the command line.
  const value = pairs.get('exclusive');
  if (value !== null) pairs.set('exclusive', ['', 'true'].includes(value) ? 'yes' : value === 'false' ? 'no' : value);
  return pairs;
}

/** What the address says; where that means nothing, what is usual. @param {string} fragment @returns {State} */
export function readState(fragment) {
  const pairs = given(fragment);
  /** @type {State} */
  const state = { ...USUAL };
  for (const [key, value] of pairs) if (isKnown(key, value)) state[key] = value === '' ? /** @type {any} */ (USUAL)[key] : value;
  return { ...state, exclusive: state.exclusive === 'yes' ? 'yes' : '', label: labelText(pairs.getAll('label')) };
}

/** What of an address means nothing, in words. @param {string} fragment */
export function notUnderstood(fragment) {
  const wrong = [...given(fragment)].filter(([key, value]) => !isKnown(key, value));
  const said = wrong.map(([key, value]) => (Object.hasOwn(WORDS, key) ? `${key}=${value} (known: ${WORDS[key].join(', ')})` : key));
  return said.length === 0 ? '' : `Unknown parts of the address: ${plain(said.join('; '))}.`;
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
