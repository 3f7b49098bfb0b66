// What draws calls, and pages that few look at. All of it is one script that is loaded when the first part of it is needed, so
// that the first page is small and takes few requests.

export { FlameGraph } from '../../flame/FlameGraph.tsx';
export { ChangesPage } from '../changes/ChangesPage.tsx';
export { FirstTrace } from '../first/FirstTrace.tsx';
export { Health } from '../health/Health.tsx';
export { FileTime } from './FileTime.tsx';
export { ViewPage } from './ViewPage.tsx';
export { Views } from './Views.tsx';
