// The data that encode/html writes into the file.

import { treeOf, type Tree, type TreeColumns } from '../tree/tree.ts';
import type { Thread } from './threads.ts';

/** The data of a file, in its JSON format. */
export interface ProfileData {
  /** The page or files of the profile. */
  title?: string;
  /** The kind of time: JavaScript, or work if it includes events of the browser. */
  of: string;
  /** A description of the selection and of the other side of a comparison. */
  selection?: string;
  base_selection?: string;
  /** The selected time range, RFC 3339. */
  since?: string;
  until?: string;
  tree: TreeColumns;
  /** Whether long names were cut because together they were too long for a file. */
  cut?: boolean;
  /**
   * The threads of recordings, each with its own tree. A thread without a tree has the document's.
   */
  threads?: (Thread & { tree?: TreeColumns })[];
  base_threads?: Thread[];
  /** Number of threads that are not in the file. */
  other_threads?: number;
}

/** A profile with parsed trees. */
export interface Profile extends Omit<ProfileData, 'tree' | 'threads'> {
  tree: Tree;
  threads: (Thread & { tree?: TreeColumns })[];
  traces: number;
  /**
   * Calls that were too small for the tree: their number, and their time in µs over all page views.
   */
  pruned: { nodes: number; self_us: number };
}

/** Reads the profile in the document. */
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
