'use strict';
{
  const root = document.documentElement;
  const [input, reset, result] = ['search', 'reset', 'result'].map((id) => document.getElementById(id));
  const detail = document.getElementById('detail');
  const column = 7.23; // px of a letter, if the font is what the style asks for
  const least = 24; // px below which a frame shows no name

  // The frames, each after its caller and before the calls of its caller that come next.
  const frames = [...document.querySelectorAll('.frame')].map((element, at) => {
    const [name, place, times] = element.querySelector('title').textContent.split('\n');
    return {
      element,
      at,
      name,
      place,
      times,
      text: element.querySelector('text'),
      depth: +element.getAttribute('y'),
      left: parseFloat(element.getAttribute('x')),
      width: parseFloat(element.getAttribute('width')),
      shown: parseFloat(element.getAttribute('width')), // in percent; 0 while a zoom hides it
    };
  });
  const all = frames[0];
  let zoomed = all;
  let current = all; // the one frame that the Tab key reaches

  // Wide letters take two columns of a monospaced font.
  const columns = (letter) => (letter > '\u10ff' ? 2 : 1);

  function cut(name, width) {
    let room = (width - 6) / column;
    const letters = [...name];
    if (letters.reduce((sum, letter) => sum + columns(letter), 0) <= room) return name;
    let out = '';
    room -= 1; // for the dots
    for (const letter of letters) {
      room -= columns(letter);
      if (room < 0) break;
      out += letter;
    }
    return out && out + '…';
  }

  // fit cuts the names to the widths that their frames have on the screen.
  function fit() {
    const whole = root.getBoundingClientRect().width;
    for (const frame of frames) {
      const width = (frame.shown / 100) * whole;
      if (width < least) {
        frame.text?.remove();
        frame.text = null;
        continue;
      }
      if (!frame.text) {
        frame.text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
        frame.text.setAttribute('x', 4);
        frame.text.setAttribute('y', 13);
        frame.element.append(frame.text);
      }
      frame.text.textContent = cut(frame.name, width);
    }
  }

  const parentOf = (frame) => {
    let at = frame.at;
    while (at > 0 && frames[at].depth >= frame.depth) at--;
    return frames[at];
  };

  const place = (frame, left, width) => {
    frame.shown = width;
    frame.element.style.display = width ? '' : 'none';
    frame.element.setAttribute('x', left + '%');
    frame.element.setAttribute('width', width + '%');
  };

  // zoom makes a frame as wide as the chart, with all that it called; its callers stand
  // above it, and the rest is hidden.
  function zoom(target) {
    zoomed = target;
    const callers = new Set();
    for (let frame = target; frame !== all; callers.add(frame)) frame = parentOf(frame);
    let below = false;
    for (const frame of frames) {
      below = frame === target || (below && frame.depth > target.depth);
      const past = callers.has(frame);
      frame.element.classList.toggle('past', past);
      if (past) place(frame, 0, 100);
      else if (below)
        place(frame, ((frame.left - target.left) / target.width) * 100, (frame.width / target.width) * 100);
      else place(frame, 0, 0);
    }
    reset.disabled = target === all;
    fit();
  }

  function select(frame) {
    current.element.setAttribute('tabindex', -1);
    current = frame;
    current.element.setAttribute('tabindex', 0);
  }

  function search(words) {
    const wanted = words.toLowerCase();
    let share = 0;
    let count = 0;
    let inside = -1; // depth of a match whose calls are part of it
    for (const frame of frames) {
      if (frame.depth <= inside) inside = -1;
      const found = wanted !== '' && frame !== all && (frame.name + '\n' + frame.place).toLowerCase().includes(wanted);
      frame.element.classList.toggle('found', found);
      if (!found) continue;
      count++;
      if (inside < 0) {
        share += frame.width;
        inside = frame.depth;
      }
    }
    result.textContent =
      wanted && (count ? `${share.toFixed(1)} % in ${count} ${count === 1 ? 'frame' : 'frames'}` : 'not found');
  }

  const clear = () => {
    input.value = '';
    search('');
  };

  // step returns the frame that an arrow key leads to.
  function step(key) {
    const visible = frames.filter((frame) => frame.shown);
    if (key === 'ArrowUp') return parentOf(current);
    if (key === 'ArrowDown') {
      const next = frames[current.at + 1];
      return next && next.depth > current.depth && next.shown ? next : current;
    }
    const row = visible.filter((frame) => frame.depth === current.depth);
    return row[row.indexOf(current) + (key === 'ArrowRight' ? 1 : -1)] ?? current;
  }

  const frameOf = (event) => {
    const element = event.target.closest?.('.frame');
    return element && frames.find((frame) => frame.element === element);
  };

  const describe = (event) => {
    const frame = frameOf(event);
    if (frame) detail.textContent = `${frame.times}  ${frame.name}  ${frame.place}`;
  };

  root.addEventListener('mouseover', describe);
  root.addEventListener('focusin', describe);
  root.addEventListener('click', (event) => {
    const frame = frameOf(event);
    if (!frame) return;
    select(frame);
    zoom(frame);
  });
  root.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'f' && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
      input.select();
      return;
    }
    if (event.key === 'Escape') {
      if (input.value) clear();
      else zoom(all);
      return;
    }
    const frame = frameOf(event);
    if (!frame) return;
    if (event.key === 'Enter' || event.key === ' ') zoom(frame);
    else if (event.key.startsWith('Arrow')) {
      select(step(event.key));
      current.element.focus();
    } else return;
    event.preventDefault();
  });
  input.addEventListener('input', () => search(input.value.trim()));
  reset.addEventListener('click', () => zoom(all));
  addEventListener('resize', fit);

  root.classList.add('live');
  detail.textContent = 'Click a frame to zoom, Escape to go back';
  reset.disabled = true;
  fit();
}
