// The search of the site runs in a Worker. Browsers start none for a page that is opened from a file,
// so its script runs in a hidden frame there. The theme looks for the name IFrameWorker.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      window.addEventListener("message", (event) => this.receive(event));
      const page = this.frame.contentDocument;
      page.open();
      page.write("<!doctype html><body>");
      page.close();
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) =>
        window.dispatchEvent(new MessageEvent("message", { data, source: inside }));
      inside.importScripts = (...urls) =>
        urls.reduce((last, one) => last.then(() => load(page, one)), Promise.resolve());
      this.loaded = load(page, url);
    }

    postMessage(data) {
      this.loaded.then(() =>
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    receive(event) {
      if (event.source !== this.frame.contentWindow) return;
      const copy = new MessageEvent("message", { data: event.data });
      this.dispatchEvent(copy);
      if (this.onmessage) this.onmessage(copy);
    }

    terminate() {
      this.frame.remove();
    }
  };

  const load = (page, url) =>
    new Promise((done, failed) => {
      const script = page.createElement("script");
      script.src = url;
      script.onload = done;
      script.onerror = failed;
      page.body.appendChild(script);
    });

  window.Worker = window.IFrameWorker;
}
