// <optimist-play>: Optimist in a frame of any page. `docs/embedding.md` describes it, and the messages
// that the frame and this element exchange.

const BESIDE = new URL(".", import.meta.url);
const VERSION = 1;
const LOWEST = 320;

class OptimistPlay extends HTMLElement {
  static observedAttributes = ["lesson", "session", "step", "case", "lang", "site"];

  #frame = null;
  #near = null;
  #ready = false;

  connectedCallback() {
    if (!this.style.display) this.style.display = "block";
    this.style.minHeight ||= `${LOWEST}px`;
    addEventListener("message", this.#hear);
    // A page with many of them loads those that come into sight.
    this.#near = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && this.#load(),
      { rootMargin: "400px" },
    );
    this.#near.observe(this);
  }

  disconnectedCallback() {
    removeEventListener("message", this.#hear);
    this.#near?.disconnect();
    this.#frame?.remove();
    this.#frame = null;
    this.#ready = false;
  }

  attributeChangedCallback(name, before, now) {
    if (!this.#frame || before === now) return;
    if (name === "step") this.#go();
    else if (name === "case") this.#offer();
    else this.#frame.src = this.#address();
  }

  get #site() {
    return new URL(this.getAttribute("site") ?? BESIDE, document.baseURI);
  }

  // The address of the frame. It names the origin of this page: the frame sends to no other one.
  #address() {
    const address = this.#site;
    const lang = this.getAttribute("lang");
    const parent = encodeURIComponent(location.origin);
    address.search = `?embed&parent=${parent}${lang ? `&lang=${encodeURIComponent(lang)}` : ""}`;
    const lesson = this.getAttribute("lesson");
    const session = this.getAttribute("session");
    if (lesson) address.hash = `#/learn/${encodeURIComponent(lesson)}`;
    // A link of *Share*, or what stands behind its `#`.
    else if (session) address.hash = session.slice(session.indexOf("#") + 1);
    else if (this.hasAttribute("case")) address.hash = "#/diagnose";
    else address.hash = "#/play";
    return address.href;
  }

  #load() {
    if (this.#frame) return;
    this.#near.disconnect();
    const frame = document.createElement("iframe");
    frame.src = this.#address();
    frame.title = this.getAttribute("label") ?? "Optimist";
    frame.allow = "clipboard-write";
    frame.style.cssText = `display:block;width:100%;height:${LOWEST + 160}px;border:0`;
    this.#frame = frame;
    this.append(frame);
  }

  #send(message) {
    this.#frame?.contentWindow?.postMessage({ optimist: VERSION, ...message }, this.#site.origin);
  }

  #go() {
    const step = Number.parseInt(this.getAttribute("step"), 10);
    if (this.#ready && step >= 0) this.#send({ type: "go", step });
  }

  // This page reads the case, by its own rules (CORS). The reader of the frame decides about it.
  async #offer() {
    const from = this.getAttribute("case");
    if (!this.#ready || !from) return;
    try {
      const answer = await fetch(new URL(from, document.baseURI));
      if (!answer.ok) throw new Error(`${from}: ${answer.status}`);
      const text = await answer.text();
      if (from === this.getAttribute("case")) this.#send({ type: "case", text });
    } catch (error) {
      this.#tell("error", { error });
    }
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(`optimist-${type}`, { bubbles: true, detail }));
  }

  #hear = (event) => {
    if (!this.#frame || event.source !== this.#frame.contentWindow) return;
    if (event.origin !== this.#site.origin || event.data?.optimist !== VERSION) return;
    const { type, optimist, ...detail } = event.data;
    if (type === "height") {
      const most = Number.parseInt(this.getAttribute("max-height") ?? "720", 10);
      const height = Math.min(Math.max(detail.height, LOWEST), most);
      if (Number.isFinite(height)) this.#frame.style.height = `${height}px`;
      return;
    }
    if (type === "ready") {
      this.#ready = true;
      this.#offer();
    }
    if (["ready", "step", "goal"].includes(type)) this.#tell(type, detail);
    if (type === "error") this.#tell(type, { error: new Error(detail.message) });
    // Behind the event: who hears of the first steps has the wish of the page after them.
    if (type === "step" && !this.#arrived && detail.of > 0) {
      this.#arrived = true;
      this.#go();
    }
  };

  #arrived = false;
}

if (!customElements.get("optimist-play")) customElements.define("optimist-play", OptimistPlay);
