// What encode/html puts into the file.

import { treeOf, type Tree, type TreeColumns } from '../tree/tree.ts';
import type { Thread } from './threads.ts';

/** The data of a file, as they are written. */
export interface ProfileData {
  /** The page or files of the profile. */
  title?: string;
  /** What its times are of: JavaScript, or work if the events of the browser are among it. */
  of: string;
  /** What was selected, and what it is compared with, in words. */
  selection?: string;
  base_selection?: string;
  /** The selected time range, RFC 3339. */
  since?: string;
  until?: string;
  tree: TreeColumns;
  /** Long names were cut, as all of them were too long for a file. */
  cut?: boolean;
  /** The threads of recordings, each with its own tree. A thread without one has the tree of the document. */
  threads?: (Thread & { tree?: TreeColumns })[];
  base_threads?: Thread[];
  /** How many threads are not in the file. */
  other_threads?: number;
}

/** A profile, to be shown. */
export interface Profile extends Omit<ProfileData, 'tree' | 'threads'> {
  tree: Tree;
  threads: (Thread & { tree?: TreeColumns })[];
  traces: number;
  /** What was too light to be in the tree: calls, and their time in µs over all page views. */
  pruned: { nodes: number; self_us: number };
}

/** Reads the profile that is in the document. */
export function readProfile(): Profile {
  const { tree, threads = [], ...rest } = JSON.parse(document.getElementById('profile')!.textContent!) as ProfileData;
  return { ...rest, threads, ...shownTree(tree) };
}

/** Returns a profile with the tree of one of its threads. */
export function ofThread(profile: Profile, key: string): Profile {
  const tree = profile.threads.find((thread) => thread.key == key)?.tree;
  return tree ? { ...profile, ...shownTree(tree) } : profile;
}

function shownTree(tree: TreeColumns): Pick<Profile, 'tree' | 'traces' | 'pruned'> {
  return { tree: treeOf(tree), traces: tree.traces, pruned: tree.pruned };
}
