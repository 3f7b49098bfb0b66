// A page with only calls in chronological order, for benchmarks.

import { render } from 'preact';
import { useState } from 'preact/hooks';
import { lanesOf } from '../src/timeline/lanes.ts';
import { TimeOrder } from '../src/timeline/TimeOrder.tsx';
import { timelineOf, type Calls } from '../src/timeline/timeline.ts';
import { randomCalls } from './synthetic.ts';
import '../src/flame/flame.css';
import '../src/flame/treegrid.css';
import '../src/timeline/timeline.css';

/** Holds the state of the page. */
function Held({ response }: { response: Calls }) {
  const [timeline] = useState(() => timelineOf(response));
  const [search, setSearch] = useState('');
  const [range, setRange] = useState('');
  const tasks = response.calls.start_us.flatMap((start_us, i) => {
    const end_us = response.calls.end_us[i]!;
    return response.calls.level[i] == 0 && end_us - start_us >= 4000 ? [{ start_us, end_us }] : [];
  });
  const [lanes] = useState(() => lanesOf({ page: '/', end_us: response.end_us, spans: [], long_tasks: tasks }));
  return (
    <TimeOrder
      {...{ timeline, lanes, tasks, search, range }}
      unsampled={[]}
      label="a test"
      colouring="owner"
      onColouring={() => {}}
      view="graph"
      onView={() => {}}
      onSearch={setSearch}
      onRange={setRange}
    />
  );
}

/** Shows a response; returns the script time in ms from JSON to the input of the next frame. */
function show(json: string): number {
  const start = performance.now();
  render(<Held response={JSON.parse(json) as Calls} />, document.querySelector('main')!);
  return performance.now() - start;
}

Object.assign(globalThis, { fixture: { show, randomCalls } });
