import FarmHarness

extension Farm {
    /// Pushes device inputs as a producer does.
    func push(devices inputs: [String], app: String = "demo") throws {
        let client = try redis.client()
        for start in stride(from: 0, to: inputs.count, by: 500) {
            let part = inputs[start..<min(start + 500, inputs.count)]
            try client.run(["RPUSH", "{pushfarm:\(app)}:devices"] + part)
        }
    }

    /// Waits until the intake has finished all device inputs.
    func devicesFinished(app: String = "demo") async throws {
        let client = try redis.client()
        try await eventually("all device inputs are finished", within: .seconds(120)) {
            let lists = try ["devices", "devices_taken"].map {
                try client.run("LLEN", "{pushfarm:\(app)}:\($0)").integer
            }
            return lists == [0, 0]
        }
    }
}
