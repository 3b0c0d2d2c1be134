package import PushModel

extension DeviceAction.Discard {
    /// The name of the reason in reports.
    package var name: String {
        switch self {
        case .superseded: "superseded"
        case .collapsed: "collapsed"
        case .expired: "expired"
        case .forceQuit: "force_quit"
        case .notStored: "not_stored"
        case .empty: "empty"
        }
    }
}

/// The reports about the devices, each as JSON on one line.
extension SimulatedFleet {
    /// The greatest number of entries in one ``doneReport(from:count:)``.
    package static let mostDoneEntries = 10_000

    /// All counters, and the editions.
    package func summary(at time: ModelTime) -> String {
        JSONText.object { text in
            text.member("ok", true)
            text.member("time_factor", population.timeFactor)
            text.member("model_time", clockText(time))
            text.member("devices", deviceCount)
            text.member("future_events", eventCount)
            text.member("alerts", counts.alerts)
            text.member("background_pushes", counts.backgroundPushes)
            text.member("shown_alerts", counts.shownAlerts)
            text.member("replaced_alerts", counts.replacedAlerts)
            text.member("wake_ups", counts.wakeUps)
            text.member("most_wake_ups_a_minute", counts.minutes.map(\.wakeUps).max() ?? 0)
            text.member("foreground_deliveries", counts.foregroundDeliveries)
            text.member("extension_runs", counts.extensionRuns)
            text.member("api_requests", counts.apiRequests)
            text.member("most_api_requests_a_second", counts.peak.requests)
            if counts.peak.requests > 0 { text.member("most_api_requests_at", clockText(counts.peak.at)) }
            text.member("interrupted_downloads", counts.interruptedDownloads)
            text.member("restarted_downloads", counts.restartedDownloads)
            text.member("done", counts.doneReports)
            text.member("discarded") { text in
                for reason in DeviceAction.Discard.allCases {
                    text.member(reason.name, counts.discards[reason] ?? 0)
                }
            }
            text.member("pushes_beyond_limit", counts.pushesBeyondLimit)
            text.member("refused_edition_lists", counts.refusedEditionLists)
            text.key("editions")
            text.array { text in for entry in editions.entries { Self.write(entry, to: &text) } }
        }
    }

    private static func write(_ entry: EditionTable.Entry, to text: inout JSONText) {
        text.object { text in
            text.member("edition", entry.name)
            text.member("devices", entry.devices)
            text.member("done", entry.done)
            text.member("done_by_sends") { text in
                for (sends, devices) in entry.doneBySends.enumerated() where devices > 0 {
                    text.member("\(sends)", devices)
                }
            }
        }
    }

    /// The minutes in which an app was started in the background, an app asked the publisher, or a device was done.
    package func minutesReport() -> String {
        JSONText.object { text in
            text.member("ok", true)
            text.key("minutes")
            text.array { text in
                for (index, minute) in counts.minutes.enumerated()
                where minute != SimulatedDeviceCounts.Minute() {
                    let time = ModelTime(milliseconds: Int64(counts.firstMinute + index) * 60_000)
                    text.object { text in
                        text.member("minute", clockText(time))
                        text.member("wake_ups", minute.wakeUps)
                        text.member("api_requests", minute.apiRequests)
                        text.member("most_api_requests_a_second", minute.mostAPIRequests)
                        text.member("done", minute.done)
                    }
                }
            }
        }
    }

    /// The entries of ``done`` from the position `place`. The member `next` is the position at which the next report must
    /// start.
    package func doneReport(from place: Int, count: Int) -> String {
        let start = min(max(place, 0), done.entries.count)
        let end = start + min(max(count, 0), Self.mostDoneEntries, done.entries.count - start)
        return JSONText.object { text in
            text.member("ok", true)
            text.member("next", end)
            text.member("total", done.entries.count)
            text.key("done")
            text.array { text in for entry in done.entries[start..<end] { write(entry, to: &text) } }
        }
    }

    /// Writes one device that is done: edition, token, number of sends, and the model's day and time of day.
    package func write(_ entry: DoneLog.Entry, to text: inout JSONText) {
        text.object { text in
            text.member("edition", editions.entries[Int(entry.edition.number)].name)
            text.member("token", token(of: entry.device))
            text.member("sends", entry.sends)
            text.member("model_time", clockText(entry.time))
        }
    }

    /// The day, counted from 0, and the time of day: `1 05:59:30`.
    private func clockText(_ time: ModelTime) -> String {
        let seconds = (population.startsAt.clampedMilliseconds + time.milliseconds) / 1000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return
            "\(seconds / 86_400) \(two(seconds / 3600 % 24)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }
}
