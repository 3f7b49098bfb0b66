// Flame graphs, and pages that are rarely opened. They are one script that is loaded when the first
// of them is needed, so that the first page is small and takes few requests.

export { FlameGraph } from '../../flame/FlameGraph.tsx';
export { ChangesPage } from '../changes/ChangesPage.tsx';
export { FirstTrace } from '../first/FirstTrace.tsx';
export { Health } from '../health/Health.tsx';
export { FileTime } from './FileTime.tsx';
export { ViewPage } from './ViewPage.tsx';
export { Views } from './Views.tsx';
