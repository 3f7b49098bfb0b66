import assert from 'node:assert/strict';
import { test } from 'node:test';
import { polyfillDOMRect } from '@paulirish/trace_engine/analyze-trace.mjs';
import * as Trace from '@paulirish/trace_engine/models/trace/trace.js';
import { add, differences, expected, json, sum } from './outputs.js';

// The trace engine is the part of Chrome DevTools that reads files in its Performance panel.
polyfillDOMRect();

/** Reads a recording; returns its only thread, and the data of all threads. */
async function read(traceEvents, config) {
  const model = Trace.TraceModel.Model.createWithAllHandlers();
  await model.parse(traceEvents, config);
  const { data } = model.parsedTrace();
  const threads = Trace.Handlers.Threads.threadsInTrace(data);
  assert.equal(threads.length, 1);
  return { thread: threads[0], meta: data.Meta };
}

/** Reads a .cpuprofile like the panel. */
function readCPUProfile(name) {
  const { traceEvents, metadata } = Trace.Helpers.SamplesIntegrator.SamplesIntegrator.createFakeTraceFromCpuProfile(
    json(name),
    1,
  );
  return read(traceEvents, { metadata, isCPUProfile: true });
}

/** Self times by name, in µs. */
function selfTimes(thread, name) {
  const self = {};
  for (const entry of thread.entries) add(self, name(entry), thread.entryToNode.get(entry).selfTime);
  return self;
}

const called = (entry) => entry.callFrame.functionName || '(anonymous)';

test('a merged .cpuprofile has the expected totals', async () => {
  const { thread, meta } = await readCPUProfile('merged.cpuprofile');
  const self = selfTimes(thread, called);
  assert.deepEqual(differences(self, expected.functions, 2), []);
  assert.ok(Math.abs(sum(Object.values(self)) - expected.self) < 2);
  assert.equal(meta.traceBounds.range, expected.self);
});

test('a .cpuprofile in time order has the expected totals', async () => {
  const { thread, meta } = await readCPUProfile('timed.cpuprofile');
  const { '(idle)': idle, ...self } = selfTimes(thread, called);
  assert.deepEqual(differences(self, expected.timed.functions, 2), []);
  assert.ok(Math.abs(idle - (expected.timed.span - expected.timed.self)) < 2);
  assert.equal(meta.traceBounds.range, expected.timed.span);
});

test('a Chrome trace has the expected calls', async () => {
  const { traceEvents, metadata } = json('timed.trace.json');
  const { thread, meta } = await read(traceEvents, { metadata });
  assert.equal(thread.name, 'CrRendererMain');
  assert.equal(thread.entries.length, expected.timed.calls);
  assert.deepEqual(
    differences(
      selfTimes(thread, (entry) => entry.name),
      expected.timed.functions,
      2,
    ),
    [],
  );
  assert.equal(meta.traceBounds.range, expected.timed.span);
  assert.equal(meta.traceIsGeneric, true, 'it is not mistaken for a recording of DevTools');
});
