// Whose code a function is, judged from its location. The daemon knows more, see docs/owners.md.

import type { Frame } from './tree.ts';

/**
 * The owner of a frame's code: the app, a package, a script without symbols, the browser, or the
 * profiling script.
 */
export type Owner = 'app' | 'package' | 'script' | 'browser' | 'profiler';

/** Display names of owners. */
export const ownerNames: Record<Owner, string> = {
  app: 'app',
  package: 'packages',
  script: 'scripts without symbols',
  browser: 'browser',
  profiler: 'profiling script',
};

const packages = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/;
const bundler = /^(?:webpack|\[turbopack\]|turbopack|vite|rolldown|parcel)\//;

/** Returns the owner of a frame's code. */
export function ownerOf({ name, resource }: Partial<Frame> & Pick<Frame, 'resource'>): Owner {
  if (resource == '') return name == '(fieldtrie)' ? 'profiler' : 'browser';
  if (packages.test(resource) || bundler.test(resource)) return 'package';
  return /^[a-z][a-z0-9+.-]*:/i.test(resource) || /^[^/]*\.[cm]?js$/.test(resource) ? 'script' : 'app';
}

/** Returns a frame's group within its owner: its folder, package or host. */
export function groupOf({ name, resource }: Frame): string {
  const inPackages = packages.exec(resource)?.[1];
  if (inPackages != undefined) return inPackages;
  const host = /^[a-z][a-z0-9+.-]*:\/\/([^/]*)/i.exec(resource)?.[1];
  if (host != undefined) return host;
  return resource == '' ? name : resource.slice(0, resource.lastIndexOf('/') + 1);
}
