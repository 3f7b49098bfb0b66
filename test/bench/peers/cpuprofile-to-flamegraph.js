// cpuprofile-to-flamegraph, used as in its README. It writes no output.
import { convertToMergedFlameGraph } from 'cpuprofile-to-flamegraph';
import { measure } from './measure.js';

await measure((data) => convertToMergedFlameGraph(JSON.parse(String(data))).children.length);
