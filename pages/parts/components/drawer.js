// On a phone the side bar lies over the page: what was chosen in it closes it, and it is not there to begin with.
const PHONE_PX = 760;
const CHOICES = 
  '[data-testid="stSidebarNavLink"], [class*="st-key-chat_entry"] button, [class*="st-key-collection_entry"] button, .st-key-chat_new button';
let begun = false;

const close = () => {
  const bar = document.querySelector('[data-testid="stSidebar"]')?.getBoundingClientRect();
  if (innerWidth > PHONE_PX || !bar?.width || bar.left < 0) return;
  document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
};

export default function () {
  const choose = (event) => {
    if (event.target.closest?.(CHOICES)) setTimeout(close, 100); // after the click has done what it is for
  };
  document.addEventListener("click", choose);
  if (!begun) setTimeout(close);
  begun = true;
  return () => document.removeEventListener("click", choose);
}
