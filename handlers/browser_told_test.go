package handlers

import (
	"fmt"

	permission "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// mayNotify decides as a person does whom the browser asks about notifications.
func (p *tab) mayNotify(may permission.PermissionSetting) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, permission.SetPermission, permission.SetPermissionParams{
		Permission: &permission.PermissionDescriptor{Name: "notifications"}, Setting: may, Origin: p.base})
	if err != nil {
		p.t.Fatalf("set the permission for notifications: %v", err)
	}
}

// toldOutside turns notifications on, and off where they are refused. What comes
// while nobody looks is told, and a click on it leads there.
func toldOutside(p *tab, happen func()) {
	p.t.Helper()
	p.mayNotify(permission.PermissionSettingDenied)
	p.open("/settings")
	p.shows("#notify-state", "The browser refuses notifications")
	p.lacks("[data-notify]")
	p.mayNotify(permission.PermissionSettingGranted)
	p.open("/settings")
	// A Chromium without windows refuses whatever a person says: here it is told not to.
	p.eval(`(Notification.permission === 'granted' ||
		(Object.defineProperty(Notification, 'permission', {value: 'granted'}), Notification.requestPermission = async () => 'granted'), null)`)
	p.visit("/settings")
	p.shows("#notify-state", "tells you nothing")
	p.click("[data-notify]")
	p.shows("#notify-state", "tells you when something waits")
	p.until("it leads", `document.documentElement.dataset.leads === ''`)
	p.eval(`(() => {
		const Real = Notification;
		window.told = [];
		window.Notification = class extends Real { constructor(...all) { super(...all); told.push(this); } };
		Object.defineProperty(document, 'hidden', {value: true, configurable: true});
		document.dispatchEvent(new Event('visibilitychange'));
	})()`)
	p.until("nobody looks", `navigator.locks.query().then(q => !q.held.some(l => l.name === 'clearbox-front'))`)
	happen()
	const yours = `told.find(n => n.body.includes("Try it with the customer's file"))`
	p.until("it was told", yours)
	if n := p.eval(`new Set(told.map(n => n.tag)).size === told.length`); n != true {
		p.t.Errorf("something was told twice: %v", p.eval(`told.map(n => n.tag)`))
	}
	p.eval(fmt.Sprintf(`(delete document.hidden, document.dispatchEvent(new Event('visibilitychange')), %s.onclick(), null)`, yours))
	p.until("it leads to the step", `location.pathname === '/plans/1/nodes/10'`)
	p.visit("/settings")
	p.click("[data-notify]")
	p.shows("#notify-state", "tells you nothing")
}
