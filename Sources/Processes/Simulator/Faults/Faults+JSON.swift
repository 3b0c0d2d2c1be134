extension Faults {
    /// What is switched on, as a JSON object on one line.
    var json: String {
        var members = ["\"ok\":true"]
        func add(_ name: String, _ value: some CustomStringConvertible) {
            members.append("\"\(name)\":\(value)")
        }
        if latency != .none { add("latency", TextBuffer.quoted("\(latency)")) }
        if let goAway {
            let reason = goAway.reason.map { ",\"reason\":\(TextBuffer.quoted($0))" } ?? ""
            add("goaway", "{\"every\":\(goAway.every),\"announced\":\(goAway.announced)\(reason)}")
        }
        if refused > 0 { add("refuse", refused) }
        if reset.share > 0 {
            add("reset", "{\"share\":\(reset.share),\"code\":\(resetCode),\"processed\":\(reset.processed)}")
        }
        if silence.share > 0 {
            add("silence", "{\"share\":\(silence.share),\"processed\":\(silence.processed)}")
        }
        if let cutEvery { add("cut", cutEvery) }
        if let phase {
            let reason = phase.reply.reason.map { ",\"reason\":\(TextBuffer.quoted($0))" } ?? ""
            let until = phase.until == .max ? "" : ",\"until\":\(phase.until)"
            add("answer", "{\"status\":\(phase.reply.status)\(reason),\"share\":\(phase.share)\(until)}")
        }
        if let rate { add("rate", rate) }
        if closesNewUntil > 0 {
            add("close_new", closesNewUntil == .max ? "true" : "{\"until\":\(closesNewUntil)}")
        }
        if !binary.isCalm { add("binary", binary.json) }
        if let cut = feedback.cut { add("feedback_cut", "{\"after\":\(cut.after),\"reset\":\(cut.isReset)}") }
        if feedback.stays { add("feedback_stay", true) }
        if let time = feedback.thinks { add("feedback_think_ms", time) }
        return "{" + members.joined(separator: ",") + "}"
    }
}
