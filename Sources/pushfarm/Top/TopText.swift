/// A look at the farm as plain lines: one for the farm, one for each app, one for each trouble.
struct TopText {
    let status: FarmStatus

    var text: String {
        let alive = status.hosts.filter { $0.state != "gone" }
        let workers = alive.flatMap(\.workers)
        let rate = workers.reduce(0) { $0 + $1.rate }
        let time = TopScreen.clock(status.at)
        var text =
            "\(time)  farm  \(rate)/s  hosts \(alive.count)  workers \(workers.count { $0.state == "ready" }) of \(workers.count)"
            + "  Redis \(Figures.bytes(Int64(status.redis.usedMemory)))\n"
        for app in status.apps {
            let sums = status.sums(of: app.app)
            let state = app.pause != nil ? "paused" : app.full != nil ? "full" : "running"
            text +=
                "\(time)  app \(PlainText.of(app.app))  \(state)  \(sums.rate)/s  errors \(sums.errors)/s  open \(app.depths.open)"
            text += "  oldest \(app.ages.oldest.map { Figures.brief($0) } ?? "-")"
            text += "  delayed \(app.depths.delayed)  dead \(app.dead)  streams \(sums.streams)"
            text += sums.p99.map { "  p99 \($0) ms" } ?? ""
            text += "\n"
        }
        for trouble in status.troubles { text += "\(time)  trouble  \(PlainText.of(trouble, limit: 300))\n" }
        return text
    }
}
