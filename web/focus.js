// The focus stays where it was when a view, or a part of it, is made anew: in the same control, or in the same pane, table or
// picture. Who works by keys goes on from there.

/** What takes the focus within a part of the page, the likeliest first. */
const INSIDE = ['tr[aria-selected="true"]', '.slice[aria-pressed="true"]', 'tr[tabindex="0"]', 'canvas', '.slice[tabindex="0"]', 'circle[tabindex="0"]'];

/** What is known by its words. */
const CONTROLS = 'button, select, input, textarea';

/** How a part is found again. @param {Element} part */
function selectorOf(part) {
  const label = part.getAttribute('aria-label');
  const [first] = part.classList;
  if (part.classList.contains('pane') || (!first && label !== null)) return `${part.localName}[aria-label="${CSS.escape(label ?? '')}"]`;
  return first ? `${part.localName}.${CSS.escape(first)}` : part.localName === 'main' ? 'main' : null;
}

/** The words of a control; counts in them change. @param {Element} control */
function wordsOf(control) {
  const label = control.closest('label')?.querySelector('span')?.textContent;
  return (control.getAttribute('aria-label') ?? label ?? control.textContent ?? '').replaceAll(/\d/g, '');
}

/** Remembers where the focus is: what comes back gives it back, if it was lost meanwhile. @param {HTMLElement} page @returns {() => void} */
export function keepFocus(page) {
  const before = document.activeElement;
  if (!before || before === document.body || !page.contains(before)) return () => undefined;
  /** @type {string[]} */
  const parts = [];
  for (let part = before.parentElement; part && part !== page; part = part.parentElement) {
    const selector = selectorOf(part);
    if (selector) parts.unshift(selector);
  }
  const words = before.matches(CONTROLS) ? wordsOf(before) : null;
  return () => {
    const main = /** @type {HTMLElement | null} */ (page.querySelector('main'));
    if (document.activeElement !== document.body && document.activeElement !== main) return;
    const open = [/** @type {Element} */ (page)];
    for (const part of parts) {
      const found = open[open.length - 1].querySelector(part);
      if (!found) break;
      open.push(found);
    }
    /** @type {HTMLElement | null | undefined} */
    let to = null;
    if (before.id !== '' && before !== main) to = document.getElementById(before.id);
    if (!to && words !== null) {
      const same = /** @type {NodeListOf<HTMLElement>} */ (open[open.length - 1].querySelectorAll(`${before.localName}:not(:disabled)`));
      to = [...same].find((control) => wordsOf(control) === words);
    }
    for (const part of [...open.reverse().filter((part) => part !== page), ...(main ? [main] : [])]) {
      if (to) break;
      for (const selector of INSIDE) to ??= /** @type {HTMLElement | null} */ (part.querySelector(selector));
    }
    // What says that there is nothing takes no focus.
    to ??= main;
    to?.focus({ preventScroll: to.localName !== 'tr' });
  };
}
