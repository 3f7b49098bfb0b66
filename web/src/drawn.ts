// What draws calls, and pages that few look at. All of it is one script that is loaded when the first part of it is needed, so
// that the first page is small and takes few requests.

export { FlameGraph } from './flame/FlameGraph.tsx';
export { FileTime } from './pages/FileTime.tsx';
export { ViewPage } from './pages/ViewPage.tsx';
export { Views } from './pages/Views.tsx';
