// Texts and arrays out of the page, where they lie compressed.

const KINDS = { f32: Float32Array, u32: Uint32Array, u16: Uint16Array, u8: Uint8Array };

export function bytesOf(text) {
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let k = 0; k < plain.length; k++) bytes[k] = plain.charCodeAt(k);
  return bytes;
}

// What an element of the page holds, unzipped; the element is emptied.
function contentOf(id) {
  const element = document.getElementById(id);
  const stream = new Blob([bytesOf(element.textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
  element.textContent = "";
  return new Response(stream);
}

export async function textOf(id) {
  return contentOf(id).text();
}

export async function bytesIn(id) {
  return new Uint8Array(await contentOf(id).arrayBuffer());
}

export async function jsonOf(id) {
  return JSON.parse(await textOf(id));
}

// A packed array: its numbers in one row.
export function numbersOf(packed) {
  return new KINDS[packed.type](bytesOf(packed.data).buffer);
}

// three.js as a script of the page: makes the global THREE.
export async function loadThree() {
  const script = document.createElement("script");
  script.textContent = await textOf("three");
  document.head.append(script);
  return window.THREE;
}
