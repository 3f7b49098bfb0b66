/** @import { Page } from 'playwright-core' */

/** Interactions with each app while it is profiled, about five seconds. */
export const drives = {
  /** @param {Page} page */
  async app(page) {
    await page.getByText('20000 shipments').waitFor();
    for (const column of ['ship', 'price', 'from', 'ship', 'leaves']) await page.click(`[data-column=${column}]`);
    const field = page.getByPlaceholder('port');
    await field.pressSequentially('cork tonnes>500', { delay: 60 });
    await page.waitForTimeout(200);
    await field.fill('');
    await page.mouse.move(300, 400);
    for (let i = 0; i < 10; i++) {
      await page.mouse.wheel(0, 700);
      await page.waitForTimeout(30);
    }
    await page.click('.row >> nth=12');
    await page.click('#end');
    await page.click('a:text("Report")');
    for (const key of ['route', 'month', 'state', 'port']) await page.click(`[data-key=${key}]`);
    await page.click('a:text("Shipments")');
    await page.click('.row a >> nth=3');
    await page.getByText('route').waitFor();
    await page.goBack();
    await page.locator('.row').first().waitFor();
  },

  /** @param {Page} page */
  async vue(page) {
    await page.getByText('4000 of 4000').waitFor();
    for (const column of ['mean', 'warmest', 'name', 'frost', 'name']) await page.click(`[data-column=${column}]`);
    const field = page.getByPlaceholder('station');
    await field.pressSequentially('berg', { delay: 150 });
    await page.waitForTimeout(150);
    await page.click('#year');
    await page.locator('polyline').waitFor();
    await field.press('Escape');
    await page.getByText('4000 of 4000').waitFor();
    await page.click('#table');
    await page.mouse.move(300, 400);
    for (let i = 0; i < 15; i++) {
      await page.mouse.wheel(0, 900);
      await page.waitForTimeout(30);
    }
    await page.click('[data-column=height]');
  },
};
