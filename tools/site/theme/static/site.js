/* Dark or light, the menu of a narrow window, where one is on the page, copy buttons. Without it the pages read as well. */
"use strict"
const root = document.documentElement
const remember = (key, value) => { try { localStorage[key] = value } catch { /* not for this reader */ } }
const remembered = key => { try { return localStorage[key] } catch { return undefined } }

const button = document.getElementById("theme")
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches
const nameTheme = () => {
    if (root.dataset.theme === "undefined") delete root.dataset.theme
    button.setAttribute("aria-label", isDark() ? "Switch to light" : "Switch to dark")
}
button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark"
    remember("theme", root.dataset.theme)
    nameTheme()
})
nameTheme()

const menu = document.getElementById("menu")
const openMenu = open => {
    menu.setAttribute("aria-expanded", open)
    document.body.classList.toggle("menu-open", open)
}
menu.addEventListener("click", () => openMenu(menu.getAttribute("aria-expanded") !== "true"))
document.addEventListener("keydown", event => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
    if (event.key === "Escape" && document.body.classList.contains("menu-open")) { openMenu(false); menu.focus() }
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault()
        document.querySelector("[type=search]").focus()
    }
})
const current = document.querySelector("#lessons [aria-current]")
current?.scrollIntoView({ block: "nearest" })

// The lesson one read last, for the first page.
if (document.body.classList.contains("lesson")) remember("lesson", location.pathname.split("/").pop())
const goOn = document.getElementById("continue")
const last = [...document.querySelectorAll("#lessons a")].find(a => goOn && a.getAttribute("href") === remembered("lesson"))
if (last) {
    goOn.href = last.href
    goOn.textContent = `Go on with ${last.textContent.trim().replace(/\s+/, " · ")}`
    goOn.hidden = false
}

// The section that is read now.
const links = [...document.querySelectorAll("#sections a")]
const heads = links.map(link => document.getElementById(decodeURIComponent(link.hash.slice(1))))
let waiting = false
const mark = () => {
    waiting = false
    let now = heads.findLastIndex(head => head && head.getBoundingClientRect().top < 160)
    links.forEach((link, n) => { n === now ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current") })
    const top = links[now]?.closest("#sections > ul > li")
    document.querySelectorAll("#sections > ul > li").forEach(item => item.classList.toggle("here", item === top))
    links[now]?.scrollIntoView({ block: "nearest" })
}
if (links.length) {
    addEventListener("scroll", () => { if (!waiting) { waiting = true; requestAnimationFrame(mark) } }, { passive: true })
    mark()
}

// What is wider than the page can be reached with Tab and scrolled with the arrow keys.
const reach = () => document.querySelectorAll(".scroll").forEach(box => {
    const wide = box.scrollWidth > box.clientWidth
    wide ? box.setAttribute("tabindex", "0") : box.removeAttribute("tabindex")
    if (wide && !box.hasAttribute("role")) { box.setAttribute("role", "group"); box.setAttribute("aria-label", "Wide: scroll sideways") }
})
addEventListener("resize", reach)
document.addEventListener("toggle", reach, true)
reach()

// Every block of code can be copied.
if (navigator.clipboard) for (const block of document.querySelectorAll("div.code, pre.command")) {
    const copy = document.createElement("button")
    copy.type = "button"
    copy.className = "copy"
    copy.textContent = "Copy"
    copy.addEventListener("click", () => navigator.clipboard.writeText(block.querySelector("code").textContent).then(() => {
        copy.textContent = "Copied"
        setTimeout(() => { copy.textContent = "Copy" }, 1500)
    }))
    block.append(copy)
}
