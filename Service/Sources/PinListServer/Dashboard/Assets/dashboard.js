// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// What the dashboard does better with scripts: it updates itself, finds as one types, and copies. Everything it shows
// and every filter works without this file.
(() => {
  'use strict';

  const interval = 15000; // milliseconds between two updates
  const timeout = 10000; // milliseconds until one counts as failed
  const main = document.getElementById('main');
  const live = document.getElementById('live');
  const announcer = document.getElementById('announce');
  let served = main.innerHTML;
  let lastSuccess = Date.now();
  let skew = null; // milliseconds between this machine's clock and the service's
  let isAsking = false;

  const announce = (text) => { if (announcer.textContent !== text) announcer.textContent = text; };

  // The same words as the service's.
  const words = (seconds) => {
    const amount = Math.abs(seconds);
    if (amount < 10) return 'now';
    if (amount >= 36525 * 86400) return seconds > 0 ? 'in over 100 years' : 'over 100 years ago';
    const units = [[86400, 2, 'day'], [3600, 2, 'hour'], [60, 1, 'minute']];
    const unit = units.find(([length, least]) => amount >= least * length) || [1, 1, 'second'];
    const count = Math.floor(amount / unit[0]);
    const text = `${count.toLocaleString('en')} ${unit[2]}${count === 1 ? '' : 's'}`;
    return seconds > 0 ? `in ${text}` : `${text} ago`;
  };

  const measureSkew = () => {
    const time = document.querySelector('.clock time');
    if (time) skew = Date.parse(time.dateTime) - lastSuccess;
  };

  const tellTimes = () => {
    if (skew === null) return;
    const now = (Date.now() + skew) / 1000;
    for (const each of document.querySelectorAll('[data-relative]')) {
      const text = words(Number(each.dataset.relative) - now);
      if (each.textContent !== text) each.textContent = text;
    }
  };

  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };

  const copy = async (button) => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = 'copied';
      announce('Copied');
      window.setTimeout(() => { button.textContent = 'copy'; }, 1500);
    } catch {
      // Not allowed, or not a secure context: then the text is selected, to be copied by hand.
      const code = button.parentElement.querySelector('code');
      code.textContent = button.dataset.copy;
      select(code);
      announce('Selected; copy it by hand');
    }
  };

  const filter = (input) => {
    const wanted = input.value.trim().toLowerCase();
    const list = document.getElementById(input.dataset.filter);
    if (!list) return;
    let shown = 0;
    for (const row of list.querySelectorAll('tbody > tr, [data-row]')) {
      if (row.closest('[data-row]') !== null && !row.hasAttribute('data-row')) continue;
      row.hidden = wanted !== '' && !row.textContent.toLowerCase().includes(wanted);
      if (!row.hidden) shown += 1;
    }
    announce(wanted === '' ? '' : `${shown} found`);
  };

  const enhance = () => {
    for (const each of main.querySelectorAll('.copy, .typed')) each.hidden = false;
    for (const each of main.querySelectorAll('[data-filter]')) if (each.value !== '') filter(each);
    tellTimes();
  };

  // What a person has done to the page, by ids, so that an update does not undo it.
  const remember = () => ({
    focus: main.contains(document.activeElement) ? document.activeElement.id : '',
    open: [...main.querySelectorAll('details[id]')].filter((each) => each.open).map((each) => each.id),
    values: [...main.querySelectorAll('input[type=search][id], select[id]')].map((each) => [each.id, each.value]),
    scrolled: [...main.querySelectorAll('.scroll')].map((each) => [each.scrollLeft, each.scrollTop]),
    left: window.scrollX,
    top: window.scrollY,
  });

  const recall = (kept) => {
    for (const id of kept.open) { const each = document.getElementById(id); if (each) each.open = true; }
    for (const [id, value] of kept.values) { const each = document.getElementById(id); if (each) each.value = value; }
    const boxes = main.querySelectorAll('.scroll');
    kept.scrolled.forEach(([left, top], index) => { if (boxes[index]) boxes[index].scrollTo(left, top); });
    window.scrollTo(kept.left, kept.top);
    if (kept.focus) { const each = document.getElementById(kept.focus); if (each) each.focus({ preventScroll: true }); }
  };

  // A person who types, has text selected, or walks through links with the keyboard is not disturbed.
  const isBusy = () => {
    const selection = window.getSelection();
    if (selection && !selection.isCollapsed && main.contains(selection.anchorNode)) return true;
    const focused = document.activeElement;
    if (!focused || focused === main || !main.contains(focused)) return false;
    return focused.matches('select, input:not([type=search])') || (!focused.id && focused.matches(':focus-visible'));
  };

  const takeOver = (text) => {
    const page = new DOMParser().parseFromString(text, 'text/html');
    const next = page.getElementById('main');
    // A page without the clock is the log-in or an error.
    const time = page.querySelector('.clock time');
    if (!next || !time) return false;
    lastSuccess = Date.now();
    if (next.innerHTML === served) {
      document.querySelector('.clock').querySelector('time').replaceWith(document.adoptNode(time));
    } else if (!isBusy()) {
      const before = [...main.querySelectorAll('[data-announce]')].map((each) => each.textContent.trim()).join('. ');
      served = next.innerHTML;
      const kept = remember();
      main.replaceChildren(...[...next.childNodes].map((each) => document.adoptNode(each)));
      for (const part of ['header nav[aria-label=Pages]', '.clock time', '.clock [data-relative]']) {
        const [old, fresh] = [document.querySelector(part), page.querySelector(part)];
        if (old && fresh && !old.contains(document.activeElement)) old.replaceWith(document.adoptNode(fresh));
      }
      document.title = page.title;
      const after = [...main.querySelectorAll('[data-announce]')].map((each) => each.textContent.trim()).join('. ');
      if (before !== after) announce(`Updated. ${after}`);
      recall(kept);
    }
    measureSkew();
    enhance();
    return true;
  };

  const say = (text, isBad) => {
    live.hidden = false;
    live.classList.toggle('bad', isBad);
    if (live.textContent !== text) live.textContent = text;
  };

  const update = async () => {
    if (document.hidden || isAsking) return;
    isAsking = true;
    try {
      const answer = await fetch(window.location.href, {
        headers: { Accept: 'text/html' }, credentials: 'same-origin', cache: 'no-store',
        signal: AbortSignal.timeout(timeout),
      });
      if (answer.status === 401 || answer.status === 403 || new URL(answer.url).pathname === '/login') {
        say('Logged out: reload the page', true);
      } else if (answer.ok && takeOver(await answer.text())) {
        say('Live', false);
      } else {
        say(`The service answers ${answer.status}; these figures are old`, true);
      }
    } catch {
      say(`No connection for ${words((Date.now() - lastSuccess) / 1000).replace('in ', '')}; these figures are old`, true);
    }
    isAsking = false;
  };

  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-copy]');
    if (button) copy(button);
  });
  document.addEventListener('input', (event) => {
    if (event.target.matches('[data-filter]')) filter(event.target);
  });
  document.addEventListener('visibilitychange', () => { if (!document.hidden) update(); });

  measureSkew();
  enhance();
  // On a phone the header is one line that scrolls: the page's own link is in sight.
  const current = document.querySelector('header nav a[aria-current=page]');
  if (current) current.scrollIntoView({ block: 'nearest', inline: 'center' });
  window.setInterval(tellTimes, 5000);
  if (live) {
    say('Live', false);
    window.setInterval(update, interval);
  }
})();
