// Tables of any number of rows: real ones, of which only what is seen is there where rows are many.
import { button, gestures, make } from './dom.js';

/** @typedef {{title: string, value?: (item: any) => any, show?: (value: any, item: any) => string, isText?: boolean, share?: (item: any) => number | null, isMono?: boolean, isLeft?: boolean, draw?: (item: any) => Element, tip?: (item: any) => string}} Column A text takes what room there is; what is drawn comes after the text. */
/** @typedef {{label: string, columns: Column[], items: any[], handle?: import('./actions.js').Handle, isSelected?: (item: any) => boolean, isFixed?: boolean, depth?: (item: any, at: number) => number, toggle?: (item: any, open?: boolean | 'all') => void, isOpen?: (item: any) => boolean | null, rowClass?: (item: any) => string | null}} Shown Each item has a row. */

/** Height of a row in pixels, as the style has it. */
const ROW = 24;

/** Rows that are all there: browsers lay out all of them before anything is seen. */
const FEW = 100;

/** Levels that are shown by room to the left; of deeper ones their number is written. */
const INDENTED = 40;

/** @param {any} value */
const shownValue = (value) => (value === null ? '-' : String(value));

/** A table. @param {Shown} shown @returns {HTMLElement} */
export function table(shown) {
  const { columns, items, handle = {} } = shown;
  let order = items;
  let sorted = -1;
  let isDown = false;
  let focused = -1;
  /** The rows that are there: from one to another. */
  let there = [0, 0];
  const head = make('tr');
  const body = make('tbody');
  const grid = make('table', { 'aria-label': shown.label, 'aria-rowcount': items.length + 1, role: shown.isOpen ? 'treegrid' : null }, make('thead', {}, head), body);
  const box = make('div', { class: 'table', tabindex: -1 }, grid);
  const heads = columns.map((column, at) => {
    const content = column.value && !shown.isFixed && !shown.isOpen ? button(column.title, () => sort(at)) : make('span', { text: column.title });
    const cell = make('th', { scope: 'col', class: column.isText ? 'text' : column.isLeft ? 'left' : null }, content);
    head.append(cell);
    return cell;
  });

  /** @param {number} at */
  function sort(at) {
    const { value, isText } = columns[at];
    if (!value) return;
    isDown = sorted === at ? !isDown : !isText;
    sorted = at;
    order = items.toSorted((one, other) => {
      const [a, b] = [value(one), value(other)];
      if (a === b) return 0;
      // What is unknown comes last.
      if (a === null) return 1;
      if (b === null) return -1;
      return (a < b ? -1 : 1) * (isDown ? -1 : 1);
    });
    heads.forEach((cell, which) => {
      if (which === at) cell.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
    });
    body.replaceChildren();
    there = [0, 0];
    fill();
  }

  /** @param {number} at */
  function line(at) {
    const row = order[at];
    const isOpen = shown.isOpen?.(row) ?? null;
    const element = make('tr', {
      'data-row': at,
      'aria-rowindex': at + 2,
      tabindex: at === Math.max(focused, 0) ? 0 : -1,
      class: shown.rowClass?.(row) ?? null,
      'aria-selected': shown.isSelected?.(row) ? 'true' : null,
      'aria-level': shown.depth ? shown.depth(row, at) + 1 : null,
      'aria-expanded': isOpen === null ? null : String(isOpen),
    });
    columns.forEach((column, which) => {
      const text = column.value ? (column.show ?? shownValue)(column.value(row), row) : '';
      const cell = make(which === 0 && column.isText ? 'th' : 'td', {
        scope: which === 0 && column.isText ? 'row' : null,
        class: [column.isText ? 'text' : '', column.isMono ? 'mono' : '', column.isLeft ? 'left' : ''].join(' ').trim() || null,
        title: column.tip?.(row) ?? (column.isText && text.length > 24 ? text : null),
      });
      if (which === 0 && shown.depth) {
        const depth = shown.depth(row, at);
        cell.style.paddingLeft = `${6 + Math.min(depth, INDENTED) * 12}px`;
        cell.append(make('span', { class: 'twist', 'aria-hidden': 'true', text: isOpen === null ? '' : isOpen ? '▾' : '▸' }));
        if (depth > INDENTED) cell.append(make('span', { class: 'deep', text: `+${depth - INDENTED} ` }));
      }
      cell.append(text);
      if (column.draw) cell.append(column.draw(row));
      const share = column.share?.(row) ?? null;
      if (share !== null && share > 0) {
        const bar = make('span', { class: 'bar', 'aria-hidden': 'true' });
        bar.style.width = `${Math.min(share, 100)}%`;
        cell.append(bar);
      }
      element.append(cell);
    });
    return element;
  }

  /** Puts what is seen into the table. */
  function fill(all = false) {
    let [from, to] = [0, order.length];
    if (order.length > FEW && !all) {
      const seen = Math.min(order.length, Math.floor(box.scrollTop / ROW));
      const end = Math.min(order.length, seen + Math.ceil((box.clientHeight || 500) / ROW));
      if (there[0] <= seen && end <= there[1]) return;
      [from, to] = [Math.max(0, seen - 10), Math.min(order.length, end + 10)];
    }
    there = [from, to];
    const space = (/** @type {number} */ rows) => {
      const empty = make('tr', { 'aria-hidden': 'true', class: 'space' }, make('td', { colspan: columns.length }));
      empty.firstChild.style.height = `${rows * ROW}px`;
      return empty;
    };
    const rows = [];
    for (let at = from; at < to; at++) rows.push(line(at));
    const isFocused = body.contains(document.activeElement);
    body.replaceChildren(...(from > 0 ? [space(from)] : []), ...rows, ...(to < order.length ? [space(order.length - to)] : []));
    if (isFocused) body.querySelector(`[data-row="${focused}"]`)?.focus({ preventScroll: true });
  }

  /** @param {number} at */
  function focus(at) {
    focused = Math.max(0, Math.min(at, order.length - 1));
    if (order.length > FEW) {
      const [top, height] = [focused * ROW, box.clientHeight - 2 * ROW];
      if (top < box.scrollTop) box.scrollTop = top;
      else if (top > box.scrollTop + height) box.scrollTop = top - height;
      fill();
    }
    for (const row of body.querySelectorAll('tr[tabindex="0"]')) row.setAttribute('tabindex', '-1');
    const row = body.querySelector(`[data-row="${focused}"]`);
    row?.setAttribute('tabindex', '0');
    row?.focus();
  }

  /** The row of an event. @param {Event} event */
  const rowOf = (event) => {
    const row = /** @type {Element} */ (event.target).closest('tr[data-row]');
    if (!row) return null;
    focused = Number(row.getAttribute('data-row'));
    return order[focused];
  };
  gestures(body, rowOf, handle, {
    clicked(item, event) {
      const isTwist = /** @type {Element} */ (event.target).classList.contains('twist');
      if (isTwist) shown.toggle?.(item);
      return isTwist;
    },
    pressed(item, { key }) {
      const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 2);
      const to = { ArrowDown: focused + 1, ArrowUp: focused - 1, PageDown: focused + page, PageUp: focused - page, Home: 0, End: order.length - 1 }[key];
      const moved = (/** @type {number} */ at) => {
        focus(at);
        if (!handle.leaves) handle.select?.(order[focused]);
        return true;
      };
      if (to !== undefined) return moved(to);
      const { toggle, isOpen, depth } = shown;
      if (!toggle || !isOpen || !depth || !['ArrowRight', 'ArrowLeft', '*'].includes(key)) return false;
      const is = isOpen(item);
      if (key === '*') toggle(item, 'all');
      else if (is === (key === 'ArrowLeft')) toggle(item, !is);
      else if (is) return moved(focused + 1);
      else if (key === 'ArrowLeft') {
        // What is closed, or has nothing to be opened, leads to what it is in.
        for (let at = focused - 1; at >= 0; at--) if (depth(order[at], at) < depth(item, focused)) return moved(at);
      }
      return true;
    },
  });
  box.addEventListener('scroll', () => {
    if (order.length > FEW) fill();
  });
  // Rows stay the same elements: a click whose button goes down and up on different ones is none.
  box.refresh = () => {
    for (const element of body.querySelectorAll('tr[data-row]')) {
      if (shown.isSelected?.(order[Number(element.getAttribute('data-row'))])) element.setAttribute('aria-selected', 'true');
      else element.removeAttribute('aria-selected');
    }
  };
  box.goTo = focus;
  // For rows of which more has changed.
  box.renew = () => {
    there = [0, 0];
    fill();
  };
  fill();
  if (order.length > FEW) {
    // How high the box is is known once it is in the page, and windows change.
    new ResizeObserver(() => (box.clientHeight > 0 ? fill() : undefined)).observe(box);
    box.addEventListener('page-prints', () => fill(order.length <= 5000));
  }
  return box;
}
