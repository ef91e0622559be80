// Elements of the page.

export const byId = (id) => document.getElementById(id);

// An element with properties and children (elements or texts).
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export function card(title, ...children) {
  return make("section", { className: "card" }, make("h2", { textContent: title }), ...children);
}

export function fail(container, error) {
  container.append(make("p", { className: "error", textContent: `The scene cannot be drawn: ${error.message || error}` }));
  if (error instanceof Error) console.error(error);
}
