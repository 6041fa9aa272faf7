import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserContext, Frame, Page, Request } from 'playwright-core';

/** How long after a click or a key its navigation may take to begin. */
const BEGIN_MS = 300;
const POLL_MS = 20;

/** Follows which page is in front, what became of its last navigation, and whether one is under way. */
export class NavigationWatcher {
  readonly #context: BrowserContext;
  readonly #pending = new Set<Request>();
  readonly #statuses = new WeakMap<Page, number>();
  #page: Page;
  #failed: string | undefined;
  #crashed = false;
  #followsNewPages = false;

  constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.#page = page;
    this.#watch(page);
    context.on('page', (opened) => {
      if (this.#followsNewPages) this.#page = opened;
      this.#watch(opened);
    });
    context.on('request', (request) => this.#ifMain(request, () => this.#pending.add(request)));
    context.on('response', (response) =>
      this.#ifMain(response.request(), (owner) => {
        this.#pending.delete(response.request());
        if (owner) this.#statuses.set(owner, response.status());
      }),
    );
    context.on('requestfailed', (request) =>
      this.#ifMain(request, (owner) => {
        this.#pending.delete(request);
        if (owner === this.#page || (owner === undefined && this.#followsNewPages)) this.#failed = request.url();
      }),
    );
  }

  /** The page that the last step was on or has opened, if it is still there. */
  get page(): Page {
    return this.#page;
  }

  /** Goes on with a page that `work` opens; those that pages open by themselves stay in the background. */
  async followNewPages(work: () => Promise<void>): Promise<void> {
    this.#followsNewPages = true;
    try {
      await work();
    } finally {
      this.#followsNewPages = false;
    }
  }

  /** HTTP status of the page in front. */
  get status(): number | null {
    return this.#statuses.get(this.#page) ?? null;
  }

  get hasCrashed(): boolean {
    return this.#crashed;
  }

  /** The URL of a navigation of the page in front, or of one that is opening there, that has failed since the last call. */
  takeFailed(): string | undefined {
    const failed = this.#failed;
    this.#failed = undefined;
    return failed;
  }

  /** Resolves when no navigation is under way, after `timeoutMs` at the latest; one may begin a little later. */
  async idle(timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    let quietSince = Date.now();
    while (Date.now() < deadline && Date.now() - quietSince < BEGIN_MS) {
      if (this.#pending.size > 0) quietSince = Date.now();
      await delay(POLL_MS);
    }
  }

  #watch(page: Page): void {
    page.on('crash', () => {
      this.#crashed = true;
    });
    page.on('close', () => {
      if (this.#page === page) this.#page = this.#context.pages().at(-1) ?? page;
    });
  }

  /** Calls back when a request is for the page itself: not for a frame in it, nor for what it is made of. */
  #ifMain(request: Request, then: (owner: Page | undefined) => void): void {
    if (!request.isNavigationRequest()) return;
    const frame = frameOf(request);
    if (frame === undefined || frame.parentFrame() === null) then(frame?.page());
  }
}

/** undefined when the request is the first of a page that is not there yet, for which Playwright throws. */
function frameOf(request: Request): Frame | undefined {
  try {
    return request.frame();
  } catch {
    return undefined;
  }
}
