// The other source of answers: a server, `profdb serve`, where the page was not opened from a file. What it answers is what the
// command says as JSON; trees come as columns of bytes, as a file has them.
import { Unanswered, lineName } from './texts.js';

/** @typedef {import('./profile.js').Run} Run */

/** Letters of a question that the server reads in any case. */
const MOST_ADDRESS = 12000;

/** Whether a server answers. */
export function isServed() {
  return document.getElementById('page')?.dataset.served !== undefined;
}

/** Where the server is told the word that no other page knows: the first part of every path. */
function token() {
  return location.pathname.split('/')[1];
}

/** What the server says; what it refuses is said as it says it.
 * @param {string} path @param {Record<string, string | string[] | undefined>} parameters @param {RequestInit} [how] @returns {Promise<Response>} */
export async function fetched(path, parameters, how = {}) {
  // Refusals come with the status of answers then, and the browser's console stays free for what is wrong with the page.
  const query = new URLSearchParams({ errors: 'told' });
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of value === undefined ? [] : [value].flat()) query.append(name, one);
  }
  // A server reads no longer heads of requests: the browser writes some words of its own beside the address.
  if (`${query}`.length > MOST_ADDRESS) throw new Unanswered('The request is too long for the server: its path, label or names have more than 12 kB. Use the command instead.');
  let response;
  try {
    response = await fetch(`api/${path}?${query}`, how);
  } catch (error) {
    if (/** @type {Error} */ (error).name === 'AbortError') throw error;
    throw new Unanswered('The server does not respond. Is `profdb serve` still running?');
  }
  if (response.ok && response.headers.get('Content-Type') !== 'application/problem+json') return response;
  if (response.status === 204) return response;
  const said = await response.json().catch(() => null);
  throw new Unanswered(said?.error || `The server refused the request (${response.status}).`);
}

/** A block of a run, unpacked; `null` if the run has none of this name. `about` alone is what is known of the database.
 * @param {string} name @returns {Promise<Uint8Array | null>} */
export async function servedBlock(name) {
  const [run, block] = name.split('/');
  if (block === undefined) return bytesOf(await fetched('about', {}));
  if (block === 'about') return bytesOf(await fetched('about', { run }));
  const response = await fetched('tree', { run, block });
  return response.status === 204 ? null : bytesOf(response);
}

/** @param {Response} response */
async function bytesOf(response) {
  return new Uint8Array(await response.arrayBuffer());
}

/** The parameters of a question, as the command has them. @param {Run} run @param {import('./ask.js').Question} question */
function parametersOf(run, { report, percentOf, exclusive, ...others }) {
  /** @type {Record<string, any>} */
  const parameters = { run: run.key };
  for (const [name, value] of Object.entries(/** @type {Record<string, any>} */ (others))) if (value !== undefined && value !== '') parameters[name] = value === true ? 'yes' : value;
  if (exclusive) parameters.exclusive = 'yes';
  if (percentOf === 'selection') parameters['percent-of'] = percentOf;
  if (report === 'function') parameters['all-lines'] = 'yes';
  return parameters;
}

/** Shows own costs where no other is known. @param {import('./ask.js').Header} header @param {any[]} rows @param {(row: any) => number | null} cumulative */
export function showKnown(header, rows, cumulative) {
  if (header.exclusive || rows.length === 0 || rows.some((row) => cumulative(row) !== null)) return;
  header.exclusive = true;
  header.remarks.push(`Cumulative ${header.metric.name} is unknown; exclusive ${header.metric.name} is shown.`);
}

/** The answer of the server, whose head and rows are those of the command.
 * @param {Run} run @param {import('./ask.js').Header} header @param {string[]} columns Those of an answer without rows. @returns {Promise<import('./ask.js').Answer>} */
export async function answered(run, header, columns) {
  const { question } = header;
  const response = await fetched(`report/${question.report}`, parametersOf(run, question));
  const said = await response.json();
  /** @type {Record<string, any>[]} */
  const objects = said.rows;
  if (objects.length > 0) columns = Object.keys(objects[0]);
  [header.total, header.selected, header.isExclusiveLeft, header.callers] = [said.total, said.selected, said.exclusive_left ?? false, said.callers];
  if (question.report !== 'function' && question.report !== 'tree') showKnown(header, objects, (row) => row.cumulative);
  const functions = objects.map((row) => run.byId.get(row.function_id) ?? -1);
  const isOfLines = ['lines', 'call_lines', 'function', 'tree'].includes(question.report);
  const elements = objects.map((row, at) => (isOfLines ? elementOf(run, row, functions[at]) : nameOf(row)));
  return { columns, rows: objects.map((row) => columns.map((column) => row[column])), header, functions, elements };
}

/** Returns the name of the function of a row. @param {Record<string, any>} row @returns {string} */
const nameOf = (row) => row.function ?? row.caller ?? row.callee ?? '(root)';

/** What a row is called. @param {Run} run @param {Record<string, any>} row @param {number} of */
function elementOf(run, row, of) {
  const name = nameOf(row);
  const [line, col] = 'caller_line' in row ? [row.caller_line, row.caller_col] : [row.line, row.col];
  if (line === null || line === undefined) return name;
  const from = 'caller_line' in row ? row.line_file : row.file;
  return lineName(name, of >= 0 && from !== run.names.file[of] ? from : '', line, col);
}

/** The answer as text in a format. @param {Run} run @param {import('./ask.js').Question} question @param {string} format */
export async function servedText(run, question, format) {
  return (await fetched(`report/${question.report}`, { ...parametersOf(run, question), format })).text();
}

/** The statement that gives an answer in SQL. @param {Run} run @param {import('./ask.js').Header} header */
export async function servedStatement(run, { question }) {
  const response = await fetched(`report/${question.report}`, { ...parametersOf(run, question), 'show-sql': 'yes' });
  return response.text();
}

/** Statements of the reader's own, one at a time. */
export class ServedSql {
  constructor() {
    /** @type {AbortController | null} */
    this.asked = null;
    this.words = '';
  }

  /** Asks; what was asked before is given up. @param {string} sql @returns {Promise<import('./sqlite.js').SqlAnswer>} */
  async ask(sql) {
    this.stop('Replaced by another statement.');
    const asked = new AbortController();
    this.asked = asked;
    try {
      const how = { method: 'POST', headers: { 'Content-Type': 'application/json', 'Profdb-Token': token() }, body: JSON.stringify({ sql, errors: 'told' }), signal: asked.signal };
      const said = await (await fetched('sql', {}, how)).json();
      // What JSON has no number for comes as an object that says of what kind it is.
      const value = (/** @type {any} */ one) => (one === null || typeof one !== 'object' ? one : one.integer === undefined ? Number(one.real) : BigInt(one.integer));
      return { columns: said.columns, rows: said.rows.map((/** @type {any[]} */ row) => row.map(value)), more: said.more };
    } catch (error) {
      throw asked.signal.aborted ? new Unanswered(this.words) : error;
    } finally {
      if (this.asked === asked) this.asked = null;
    }
  }

  /** Gives up what was asked: the server sees that no one waits, and ends the statement. @param {string} words What is said of it. */
  stop(words) {
    this.words = words;
    this.asked?.abort();
  }
}
