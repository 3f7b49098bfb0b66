// Whose code a function is, as far as its place tells. The daemon knows more, see docs/owners.md.

import type { Frame } from './tree.ts';

/** Whose code a frame is: of the app, of a package, a script without symbols, of the browser, or of the script that profiles. */
export type Owner = 'app' | 'package' | 'script' | 'browser' | 'profiler';

/** What owners are called. */
export const ownerNames: Record<Owner, string> = {
  app: 'app',
  package: 'packages',
  script: 'scripts without symbols',
  browser: 'browser',
  profiler: 'profiling script',
};

const packages = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/;
const bundler = /^(?:webpack|\[turbopack\]|turbopack|vite|rolldown|parcel)\//;

/** Returns whose code a frame is. */
export function ownerOf({ name, resource }: Partial<Frame> & Pick<Frame, 'resource'>): Owner {
  if (resource == '') return name == '(fieldtrie)' ? 'profiler' : 'browser';
  if (packages.test(resource) || bundler.test(resource)) return 'package';
  return /^[a-z][a-z0-9+.-]*:/i.test(resource) || /^[^/]*\.[cm]?js$/.test(resource) ? 'script' : 'app';
}

/** Returns the group of code within its owner: its folder, package or host. */
export function groupOf({ name, resource }: Frame): string {
  const inPackages = packages.exec(resource)?.[1];
  if (inPackages != undefined) return inPackages;
  const host = /^[a-z][a-z0-9+.-]*:\/\/([^/]*)/i.exec(resource)?.[1];
  if (host != undefined) return host;
  return resource == '' ? name : resource.slice(0, resource.lastIndexOf('/') + 1);
}
