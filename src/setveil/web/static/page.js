"use strict";
// What scripts add to the page: files can be dropped, lists taken from files, progress moves,
// commands can be copied.
// Everything else works without.

const STOPPED = "setveil does not answer. If it was stopped, this job was ended and nothing of it " +
  "was published. Start it again in a terminal: setveil serve";
const csrf = document.querySelector('meta[name="csrf-token"]').content;

for (const panel of document.querySelectorAll("[data-events]")) follow(panel);
for (const form of document.querySelectorAll("[data-upload]")) takeFiles(form);
for (const button of document.querySelectorAll("[data-copy]")) offerCopy(button);
for (const input of document.querySelectorAll("[data-fill]")) fillFrom(input);
for (const form of document.querySelectorAll("[data-meaning]")) showMeaning(form);
for (const form of document.querySelectorAll("form")) sendOnce(form);
for (const box of document.querySelectorAll(".wide, .chart")) letKeysScroll(box);

/** What is wider than the screen can be scrolled with the keyboard. */
function letKeysScroll(box) {
  new ResizeObserver(() => {
    const isWide = box.scrollWidth > box.clientWidth;
    const about = isWide ? { tabindex: "0", role: "group", "aria-label": "Scrolls sideways" } : {};
    for (const name of ["tabindex", "role", "aria-label"]) {
      if (name in about) box.setAttribute(name, about[name]);
      else box.removeAttribute(name);
    }
  }).observe(box);
}

/** Show how far a job is until it has ended; then load the page again. A tab that is not seen does
 * not listen, because a browser opens only a few connections for all tabs together. */
function follow(panel) {
  let events = null;
  const close = () => {
    events?.close();
    events = null;
  };
  const listen = () => {
    close();
    if (document.hidden) return;
    events = new EventSource(panel.dataset.events);
    events.onmessage = (event) => {
      if (!showProgress(panel, JSON.parse(event.data))) return;
      close();
      location.reload();
    };
    events.onerror = () => {  // while the page starts again the browser tries by itself
      if (events?.readyState === EventSource.CLOSED) location.reload();
      else panel.querySelector("[data-stage]").textContent = STOPPED;
    };
  };
  document.addEventListener("visibilitychange", listen);
  addEventListener("pagehide", close);
  listen();
}

/** Show how far a job is; whether it has ended. */
function showProgress(panel, now) {
  const words = panel.querySelector("[data-stage]");
  const bar = panel.querySelector("progress");
  if (words.textContent !== now.words) words.textContent = now.words;
  if (now.share === null) bar.removeAttribute("value");
  else bar.value = 100 * now.share;
  return !["queued", "running"].includes(now.status);
}

/** Send a file as it is, so that its size does not matter, with a bar that moves. */
function takeFiles(form) {
  const input = form.querySelector('input[type="file"]');
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.files.length) send(form, input.files[0]);
  });
  form.addEventListener("dragover", (event) => {
    event.preventDefault();
    form.classList.add("over");
  });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    if (event.dataTransfer.files.length) send(form, event.dataTransfer.files[0]);
  });
}

function send(form, file) {
  const bar = form.querySelector("progress");
  const words = form.querySelector("[data-stage]");
  const request = new XMLHttpRequest();
  request.open("PUT", `${form.dataset.upload}?name=${encodeURIComponent(file.name)}`);
  request.setRequestHeader("X-CSRF-Token", csrf);
  request.setRequestHeader("Accept", "application/json");
  request.upload.onprogress = (event) => {
    bar.hidden = false;
    if (event.lengthComputable) bar.value = (100 * event.loaded) / event.total;
    words.textContent = `Copying ${file.name}`;
  };
  request.onerror = () => {
    bar.hidden = true;
    words.textContent = "The upload was interrupted. If setveil was stopped, start it again in a terminal: setveil serve";
  };
  request.onload = () => {
    let answer = {};
    try { answer = JSON.parse(request.responseText); } catch { answer = { error: request.responseText }; }
    if (answer.next) go(answer.next);
    else {
      bar.hidden = true;
      words.textContent = answer.error || "This did not work.";
    }
  };
  request.send(file);
}

/** Open an address, also if only its part after # differs. */
function go(place) {
  const target = new URL(place, location.href);
  const same = target.pathname === location.pathname;
  location.assign(target);
  if (same) location.reload();
}

/** Put the lines of a text file into a field; the file itself is not sent. */
function fillFrom(input) {
  input.addEventListener("change", async () => {
    if (!input.files.length) return;
    document.getElementById(input.dataset.fill).value = await input.files[0].text();
  });
}

/** Say what a promise means with the numbers that are typed, before they are saved. */
function showMeaning(form) {
  let last = 0;
  form.addEventListener("input", async () => {
    const own = ++last;
    await new Promise((done) => setTimeout(done, 250));
    if (own !== last) return;
    const body = new URLSearchParams(new FormData(form));
    const answer = await fetch(form.dataset.meaning, { method: "POST", body }).catch(() => null);
    if (own !== last || !answer?.ok) return;
    const now = await answer.json();
    for (const place of form.querySelectorAll("[data-shows]"))
      place.textContent = now[place.dataset.shows] || now.limits;
  });
}

function offerCopy(button) {
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  });
}

/** A second click on a button does not send a form twice. */
function sendOnce(form) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    else if (!event.defaultPrevented) form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form")) delete form.dataset.sent;
});
