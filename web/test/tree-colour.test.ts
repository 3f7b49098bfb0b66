import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeColour, changeOf, coloursOf, oklch, paletteOf, type Colouring } from '../src/tree/colour.ts';
import { ownerOf } from '../src/tree/owner.ts';
import { treeOf } from '../src/tree/tree.ts';
import { responseOf, randomResponse } from './synthetic.ts';

/** Relative luminance: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance. */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light! + 0.05) / (dark! + 0.05);
}

test('OKLCH colours equal those of CSS', () => {
  assert.equal(oklch(1, 0, 0), '#ffffff');
  assert.equal(oklch(0, 0, 0), '#000000');
  assert.equal(oklch(0.62796, 0.25768, 29.234), '#ff0000');
  assert.equal(oklch(0.86644, 0.29483, 142.495), '#00ff00');
});

test('text is legible on all fills, in both themes', () => {
  const tree = treeOf(randomResponse(3000, 4, { base: true }));
  for (const dark of [false, true]) {
    const { text, root, dim, found } = paletteOf(dark);
    const fills = new Set([root, dim, found]);
    for (const colouring of ['owner', 'file', 'self', 'change'] satisfies Colouring[]) {
      const colour = coloursOf(tree, colouring, dark);
      for (let node = 0; node < tree.frame.length; node++) fills.add(colour(node));
    }
    assert.ok(fills.size > 100);
    for (const fill of fills) assert.ok(contrast(fill, text) >= 4.5, `${text} on ${fill}: ${contrast(fill, text)}`);
  }
});

test('less is blue, more is orange, and the largest change has the strongest colour', () => {
  const tree = treeOf(responseOf({ a: [40_000, 0], b: [0, 20_000], c: [10_000, 10_000] }, 2, 2));
  assert.deepEqual(
    [1, 2, 3].map((node) => changeOf(tree, node)),
    [20, -10, 0],
  );
  for (const dark of [false, true]) {
    const colour = coloursOf(tree, 'change', dark);
    assert.equal(colour(1), changeColour(1, dark));
    assert.equal(colour(3), changeColour(0, dark));
    const [red, , blue] = [1, 3, 5].map((at) => parseInt(colour(1).slice(at, at + 2), 16));
    assert.ok(red! > blue!);
    const [less, , more] = [1, 3, 5].map((at) => parseInt(colour(2).slice(at, at + 2), 16));
    assert.ok(less! < more!);
  }
});

test('owners are recognized by locations', () => {
  const owners = [
    'src/App.tsx',
    'node_modules/@a/b/c.js',
    'webpack/bootstrap',
    'https://x.example/a.js',
    '970.js',
    '',
    'app/page.tsx',
  ].map((resource) => ownerOf({ resource }));
  assert.deepEqual(owners, ['app', 'package', 'package', 'script', 'script', 'browser', 'app']);
});
