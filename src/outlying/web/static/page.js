// Makes the pages quicker to use. Every page works without it: forms and links do the same.
"use strict";

document.documentElement.classList.add("scripted");

const main = () => document.getElementById("main");
let asked = 0;     // pages asked for so far: an answer that comes late is dropped
let shown = "";    // the page that is shown
let events = null; // where the work in progress reports
let clock = 0;     // shows the seconds that it takes
let listed = 0;    // odd rows that the page lists so far
let last = 0;      // when it was asked for them

// --- Pages: only what is inside of <main> is replaced ---------------------------------------------

async function show(address, { method = "GET", body = null, history: how = "push", focus = null } = {}) {
  const mine = ++asked;
  main().classList.add("busy");
  let answer, text;
  try {
    answer = await fetch(address, { method, body, headers: { Accept: "text/html" } });
    text = await answer.text();
  } catch {
    if (mine === asked) fail("The server does not answer. Is it still running?");
    return;
  }
  if (mine !== asked) return;
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = page.getElementById("main");
  if (!fresh) { location.assign(answer.url); return; }
  remember();
  const at = new URL(answer.url);
  if (how === "push" && at.href !== location.href) history.pushState({}, "", at);
  else if (how !== "stay") history.replaceState(history.state, "", at);
  replace(page, fresh, focus);
}

function replace(page, fresh, focus) {
  const kept = state();
  main().replaceWith(document.adoptNode(fresh));
  document.title = page.title;
  document.querySelector(".bar-top").replaceWith(document.adoptNode(page.querySelector(".bar-top")));
  restore(kept, focus);
  begin();
}

function fail(words) {
  main().classList.remove("busy");
  let place = main().querySelector(".error.lost");
  if (!place) {
    place = document.createElement("p");
    place.className = "error lost";
    place.setAttribute("role", "alert");
    main().prepend(place);
  }
  place.textContent = words;
}

// What a reader has opened, scrolled and typed stays as it is when the same view comes again.
function state() {
  const active = document.activeElement;
  return {
    open: [...main().querySelectorAll("details")].map((item) => [name(item), item.open]),
    focus: active && main().contains(active) ? active.id : "",
    caret: active && "selectionStart" in active ? active.selectionStart : null,
    left: main().querySelector(".grid")?.scrollLeft ?? 0,
    part: main().querySelector(".grid")?.dataset.grid,
    aside: main().querySelector(".aside")?.scrollTop ?? 0,
  };
}

function restore(kept, focus) {
  const open = new Map(kept.open);
  for (const item of main().querySelectorAll("details")) {
    if (open.has(name(item))) item.open = open.get(name(item));
  }
  const grid = main().querySelector(".grid"), aside = main().querySelector(".aside");
  if (grid) grid.scrollLeft = grid.dataset.grid === kept.part ? kept.left : 0; // other columns from their first
  if (aside) aside.scrollTop = kept.aside;
  const target = focus ? main().querySelector(focus) : kept.focus && document.getElementById(kept.focus);
  if (!target) return;
  target.focus({ preventScroll: !focus });
  if (kept.caret !== null && target.type === "search") target.setSelectionRange(kept.caret, kept.caret);
}

const name = (item) => `${item.className}:${item.querySelector("summary")?.textContent}`;

function remember() {
  history.replaceState({ ...history.state, top: window.scrollY }, "");
}

addEventListener("popstate", async () => {
  if (shown === location.pathname + location.search) return; // a place on the same page
  await show(location.href, { history: "stay" });
  window.scrollTo(0, history.state?.top ?? 0);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
  event.preventDefault();
  clearTimeout(pause);
  const shown = show(link.href);
  if ("top" in link.dataset) shown.then(() => window.scrollTo(0, 0));
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.matches("[data-upload]")) return upload(event, form);
  if (!form.matches("[data-swap]")) return;
  event.preventDefault();
  clearTimeout(pause);
  send(form);
});

function send(form, how = "push") {
  const given = new URLSearchParams(new FormData(form));
  const kept = new Set([...form.querySelectorAll("input[type=hidden]")].map((field) => field.name));
  if (form.matches("[data-follow]")) typed(given);
  if (form.method === "post") return show(form.action, { method: "POST", body: given, history: how });
  const address = new URL(form.action);
  for (const [key, value] of given) if (value !== "" || kept.has(key)) address.searchParams.append(key, value);
  return show(address, { history: how });
}

// An option is chosen for the row as it is typed now, explained or not.
function typed(given) {
  const object = main().querySelector("form.object");
  for (const [key, value] of object ? new FormData(object) : []) if (key.startsWith("v.")) given.set(key, value);
}

// --- Typing a search, choosing an option -------------------------------------------------------------

let pause = 0;
document.addEventListener("input", (event) => {
  const field = event.target, form = field.form;
  if (!form?.matches("[data-live], [data-follow]")) return;
  clearTimeout(pause);
  pause = setTimeout(() => send(form, form.matches("[data-live]") ? "replace" : "push"), 250);
});

// --- Work in progress -----------------------------------------------------------------------------

function follow(job) {
  events = new EventSource(job.dataset.events);
  events.addEventListener("error", () => {
    // A browser asks again by itself unless it was refused; then the page knows what has become of it.
    if (events?.readyState === EventSource.CLOSED) setTimeout(() => show(location.href, { history: "replace" }), 2000);
  });
  events.addEventListener("progress", (event) => {
    const told = JSON.parse(event.data);
    if (["done", "failed", "cancelled"].includes(told.state)) {
      stop();
      listed = 0;
      show(location.href, { history: "replace" }).then(() => say(told.state === "done" ? "Done." : "Ended."));
      return;
    }
    if (told.found > listed && performance.now() - last > 700) { // rows that are known are shown at once
      listed = told.found;
      last = performance.now();
      show(location.href, { history: "replace" });
      return;
    }
    const bar = job.querySelector("progress");
    if (told.total) { bar.max = told.total; bar.value = told.done; } else bar.removeAttribute("value");
    const figures = told.total ? `${told.done.toLocaleString("en")} of ${told.total.toLocaleString("en")}` : "";
    const words = [told.stage, figures].filter(Boolean).join(": "), heard = performance.now() - 1000 * told.seconds;
    clearInterval(clock);
    clock = setInterval(() => tick(job, words, heard), 1000);
    tick(job, words, heard);
  });
}

// Some stages take long without news: seconds that pass show that it works.
function tick(job, words, began) {
  const seconds = Math.floor((performance.now() - began) / 1000);
  job.querySelector("[data-progress]").textContent = seconds < 2 ? words : `${words} (${seconds.toLocaleString("en")} s)`;
}

// A page that nobody sees leaves its connection to others: browsers have few.
document.addEventListener("visibilitychange", () => {
  const job = main().querySelector("[data-events]");
  if (document.hidden) stop();
  else if (job && !events) follow(job);
});

function stop() {
  clearInterval(clock);
  events?.close();
  events = null;
}

function say(words) {
  document.getElementById("said").textContent = words;
}

// --- The keyboard in the table --------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const search = document.getElementById("search");
  if (event.target.matches("input, select, textarea")) {
    if (event.target === search && event.key === "ArrowDown") { event.preventDefault(); at(0)?.focus(); }
    return;
  }
  if (event.key === "/" && search) { event.preventDefault(); search.focus(); search.select(); return; }
  const shortcut = main().querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (shortcut) { event.preventDefault(); shortcut.click(); return; }
  if (!main().querySelector("[data-grid]") || event.target.matches("a:not([data-row]), button, summary")) return;
  move(event);
});

function move(event) {
  const links = rows(), here = links.indexOf(document.activeElement);
  if (event.key === "n") { // the next odd row of this page
    const odd = links.findIndex((link, place) => place > here && link.closest("tr").querySelector("td.odd"));
    if (odd >= 0) links[odd].focus();
    return;
  }
  const steps = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: links.length - 1 };
  if (event.key === "PageDown" || event.key === "PageUp") {
    const link = main().querySelector(event.key === "PageDown" ? "a[rel=next]" : "a[rel=prev]");
    if (!link) return;
    event.preventDefault();
    show(link.href, { focus: "[data-row]" });
  } else if (event.key in steps) {
    const next = at(Math.max(0, steps[event.key]));
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}

const rows = () => [...main().querySelectorAll("[data-row]")];
const at = (place) => rows()[place];

document.addEventListener("click", (event) => {
  const row = event.target.closest("[data-grid] tbody tr");
  if (!row || event.target.closest("a") || String(getSelection())) return;
  row.querySelector("[data-row]").click();
});

// --- Copy -----------------------------------------------------------------------------------------

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = button.parentElement.querySelector("pre");
  try {
    await navigator.clipboard.writeText(text.textContent);
  } catch {
    getSelection().selectAllChildren(text);
    document.execCommand("copy");
  }
  const words = button.textContent;
  button.textContent = "Copied";
  say("Copied.");
  setTimeout(() => { button.textContent = words; }, 1500);
});

// A click elsewhere, or Escape, closes what hangs over the page.
document.addEventListener("click", (event) => {
  for (const item of document.querySelectorAll("details.along[open]")) {
    if (!item.contains(event.target)) item.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const item of document.querySelectorAll("details.along[open]")) {
    item.open = false;
    item.querySelector("summary").focus();
  }
});

// --- Files ----------------------------------------------------------------------------------------

let sending = null; // the file on its way: one at a time

function upload(event, form) {
  event.preventDefault();
  take(form, form.querySelector("input[type=file]").files);
}

function take(form, files) {
  if (!files.length || sending) return;
  if (files.length > 1) refuse(form, "Drop one file at a time. Files that are one table can be served as a folder: outlying serve FOLDER.");
  else post(form, files[0]);
}

function refuse(form, text) {
  const error = form.querySelector(".error");
  form.querySelector(".sending").hidden = true;
  form.querySelector("input[type=file]").value = ""; // so that the same file can be chosen again
  error.hidden = false;
  error.textContent = text;
}

function post(form, file) {
  const part = form.querySelector(".sending"), bar = part.querySelector("progress");
  const words = part.querySelector("[data-progress]"), request = new XMLHttpRequest(), body = new FormData();
  body.append("file", file);
  part.hidden = false;
  form.querySelector(".error").hidden = true;
  bar.removeAttribute("value");
  words.textContent = `Sending ${file.name} …`;
  request.upload.addEventListener("progress", (event) => {
    if (!event.lengthComputable) return;
    bar.max = event.total;
    bar.value = event.loaded;
    words.textContent = `Sending ${file.name}: ${megabytes(event.loaded)} of ${megabytes(event.total)} MB`;
  });
  request.addEventListener("error", () => refuse(form, "The file could not be sent: it is too large, or the server has stopped."));
  request.addEventListener("abort", () => refuse(form, "The file was not sent."));
  request.addEventListener("load", () => {
    let told = {};
    try { told = JSON.parse(request.responseText); } catch { /* not for us */ }
    if (told.table) location.assign(`/t/${encodeURIComponent(told.table.id)}/odd`);
    else refuse(form, told.error ?? `The server refused the file (${request.status}).`);
  });
  request.addEventListener("loadend", () => { if (request.status !== 202) sending = null; });
  sending = request;
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.send(body);
}

const megabytes = (bytes) => (bytes / 2 ** 20).toLocaleString("en", { maximumFractionDigits: 1 });
const target = () => main().querySelector("[data-upload]");

addEventListener("dragover", (event) => {
  event.preventDefault();
  target()?.classList.add("over");
});
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) target()?.classList.remove("over"); // it has left the window
});
addEventListener("drop", (event) => {
  event.preventDefault(); // no page is left for a file that misses its place
  target()?.classList.remove("over");
  const files = event.dataTransfer?.files ?? [];
  if (target()) take(target(), files);
  else if (files.length) fail("Files are opened on the start page: choose “outlying” above, and drop it there.");
});
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-upload] input[type=file]")) take(event.target.form, event.target.files);
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-abort]")) sending?.abort();
});
// A page that comes back as it was left, with its file sent, begins afresh.
addEventListener("pageshow", (event) => { if (event.persisted && sending) location.reload(); });

// --- Each page ------------------------------------------------------------------------------------

function begin() {
  stop();
  shown = location.pathname + location.search;
  for (const button of main().querySelectorAll("[data-copy]")) button.hidden = false;
  const job = main().querySelector("[data-events]");
  if (job) follow(job);
}

begin();
