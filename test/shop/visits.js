// What visitors do on each page. turn is the number of the visit; every visit is different.

/** Search queries. */
const queries = ['kettle', 'oak tray', 'glass jug', 'stone mug', 'copper', 'calm light'];

const pause = (page, ms = 350) => page.waitForTimeout(ms);

/** @typedef {import('playwright-core').Page} Page */

/** The pages: the path of a visit, and what a visitor does there. @type {Record<string, { path: (turn: number) => string, visit: (page: Page, turn: number) => Promise<void> }>} */
export const pages = {
  '/': {
    path: () => '/',
    async visit(page, turn) {
      await pause(page, 500);
      for (let i = 0; i < turn % 3; i++) {
        await page.click('#next');
        await pause(page);
      }
    },
  },
  '/products': {
    path: () => '/products',
    async visit(page, turn) {
      const [order, other] = [['price', 'stars', 'name'][turn % 3], ['stars', 'name', 'price'][turn % 3]];
      if (turn % 2) {
        const field = page.locator('#search');
        await field.focus();
        await page.keyboard.type(queries[turn % queries.length].slice(0, 3 + (turn % 3)), { delay: 160 });
        await pause(page);
      }
      await page.click(`#${order}`);
      await pause(page);
      if (turn % 4 > 1) {
        await page.click(`#${other}`);
        await pause(page);
      }
    },
  },
  '/product/:id': {
    path: (turn) => `/product/${(turn * 37) % 900}`,
    async visit(page, turn) {
      if (turn % 3) {
        await page.click('#reviews');
        await pause(page);
      }
      if (turn % 2) {
        await page.click('#add');
        await pause(page);
      }
    },
  },
  '/cart': {
    path: () => '/cart',
    async visit(page, turn) {
      for (let i = 0; i <= turn % 3; i++) {
        await page.click(`.more >> nth=${(turn + i) % 12}`);
        await pause(page);
      }
    },
  },
  '/checkout': {
    path: () => '/checkout',
    async visit(page, turn) {
      await page.locator('#address').focus();
      await page.keyboard.type(['Linden', 'Mill La', 'Quai No'][turn % 3], { delay: 130 });
      await pause(page);
      if (turn % 2) {
        await page.locator('#card').focus();
        await page.keyboard.type('4000 0012', { delay: 60 });
      }
      await page.click('#pay');
      await pause(page);
    },
  },
};
