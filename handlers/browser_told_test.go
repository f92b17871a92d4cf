package handlers

import (
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

// askedToTell goes through the switch of notifications: refused by the browser,
// allowed and turned on, and off again.
func askedToTell(p *tab) {
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
	p.click("[data-notify]")
	p.shows("#notify-state", "tells you nothing")
}
