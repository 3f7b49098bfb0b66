// The trace engine of Chrome DevTools with the handlers that build calls from samples and events,
// and their dependencies. The panel runs more handlers.
import { Handlers, Processor } from '@paulirish/trace_engine/models/trace/trace.js';
import { measure } from './measure.js';

const handlers = {};
const need = (name) => {
  if (name in handlers) return;
  handlers[name] = Handlers.ModelHandlers[name];
  handlers[name].deps?.().forEach(need);
};
need('Samples');
need('Renderer');

await measure(async (data) => {
  const processor = new Processor.TraceProcessor(handlers);
  await processor.parse(JSON.parse(String(data)).traceEvents, {});
  let calls = 0;
  for (const { threads } of processor.data?.Renderer.processes.values() ?? []) {
    for (const { profileCalls } of threads.values()) calls += profileCalls.length;
  }
  return calls;
});
