import EventLoop
import FarmStore

/// Whether producers can submit jobs, and how.
@Loop struct PressureCheck {
    let client: FarmClient

    func findings() async throws(CommandFailure) -> [Finding] {
        var findings = [try await function()]
        for app in client.configuration.apps {
            guard let full = try await client.call(ReadFullness(), app.name) else { continue }
            findings.append(
                Finding(
                    app.name, .warning, "full: \(full.reason.text)",
                    advice: full.reason == .memory
                        ? "Give Redis more memory, or wait: what is accepted goes on draining."
                        : "Let it drain, or raise the app's limit in the configuration."))
        }
        return findings
    }

    private func function() async throws(CommandFailure) -> Finding {
        let check = "redis function"
        let library = try await client.ask { registry throws(RedisError) in
            try await registry.functionLibrary()
        }
        guard let library else {
            return Finding(
                check, .warning, "\(FunctionLibrary.submit) is not loaded",
                advice: "A coordinator loads it when it starts; until then producers can only RPUSH.")
        }
        let (theirs, ours) = (
            FunctionLibrary.version(of: library), FunctionLibrary.version(of: FunctionLibrary.text)
        )
        guard theirs >= ours else {
            return Finding(
                check, .warning, "\(FunctionLibrary.submit) has version \(theirs), older than \(ours)",
                advice: "A coordinator of this release replaces it when it starts.")
        }
        return Finding(check, .ok, "\(FunctionLibrary.submit), version \(theirs)")
    }
}
