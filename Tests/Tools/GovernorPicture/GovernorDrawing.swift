import BenchKit
import Charts
import Foundation

/// Draws a run: pushes a second at the top, connections at the bottom, and the gateway's changes across both.
struct GovernorDrawing {
    let samples: [GovernorRun.Sample]
    private static let (width, left, right) = (960.0, 70.0, 20.0)
    private static let panels = (rate: (top: 70.0, height: 250.0), connections: (top: 380.0, height: 130.0))
    private static let (accepted, refused, allowed) = ("#1f77b4", "#d62728", "#ff7f0e")

    var svg: String {
        var drawing = Drawing(width: Self.width)
        drawing.text(
            Self.left, 24, "One worker's connections to a gateway whose weather changes", size: 17,
            isBold: true)
        let rates = zip(samples, samples.dropFirst()).map { before, after in
            (
                at: after.at, accepted: Double(after.accepted - before.accepted) / (after.at - before.at),
                troubles: Double(after.troubles - before.troubles) / (after.at - before.at)
            )
        }
        let most = Self.ceiling(rates.map { max($0.accepted, $0.troubles) }.max() ?? 1)
        legend(&drawing)
        let rate = Self.panels.rate
        axes(&drawing, rate.top, rate.height, most: most, step: most / 5, "pushes a second")
        for sample in conditions { mark(&drawing, sample) }
        trace(&drawing, rates.map { ($0.at, $0.accepted) }, rate.top, rate.height, most, Self.accepted)
        trace(&drawing, rates.map { ($0.at, $0.troubles) }, rate.top, rate.height, most, Self.refused)
        for run in samples.split(whereSeparator: { $0.slowedTo == 0 || Double($0.slowedTo) > most }) {
            trace(
                &drawing, run.map { ($0.at, Double($0.slowedTo)) }, rate.top, rate.height, most, Self.allowed)
        }
        let panel = Self.panels.connections
        axes(&drawing, panel.top, panel.height, most: 16, step: 4, "connections")
        let steps = samples.flatMap { [($0.at, Double($0.connections))] }
        trace(&drawing, steps, panel.top, panel.height, 16, Self.accepted)
        drawing.text(
            (Self.left + Self.width - Self.right) / 2, panel.top + panel.height + 36, "seconds",
            anchor: .middle)
        return drawing.svg(height: panel.top + panel.height + 50)
    }

    private var conditions: [GatewayConditions] {
        GatewayConditions.all + [
            GatewayConditions(at: GatewayConditions.loadEnds, line: "", words: "no more load")
        ]
    }

    private func x(_ seconds: Double) -> Double {
        Self.left + seconds / GatewayConditions.end * (Self.width - Self.left - Self.right)
    }

    private func legend(_ drawing: inout Drawing) {
        let words = [
            (Self.accepted, "accepted"), (Self.refused, "429 and 503"),
            (Self.allowed, "what the governor allows"),
        ]
        for (place, (colour, text)) in words.enumerated() {
            let start = Self.left + 180 * Double(place)
            drawing.line(start, 40, start + 18, 40, colour, width: 3)
            drawing.text(start + 24, 44, text)
        }
    }

    private func mark(_ drawing: inout Drawing, _ conditions: GatewayConditions) {
        let bottom = Self.panels.connections.top + Self.panels.connections.height
        drawing.line(x(conditions.at), Self.panels.rate.top, x(conditions.at), bottom, "#bbbbbb")
        drawing.text(
            x(conditions.at) + 3, Self.panels.rate.top - 6, conditions.words, size: 10, colour: "#555555")
    }

    private func axes(
        _ drawing: inout Drawing, _ top: Double, _ height: Double, most: Double, step: Double, _ name: String
    ) {
        drawing.text(12, top - 8, name, size: 11, isBold: true)
        for tick in stride(from: 0, through: most + step / 10, by: step) {
            let y = top + height - tick / most * height
            drawing.line(Self.left, y, Self.width - Self.right, y, "#e4e4e4")
            drawing.text(Self.left - 6, y + 4, String(Int(tick)), anchor: .end)
        }
        for tick in stride(from: 0, through: GatewayConditions.end, by: 20) {
            drawing.text(x(tick), top + height + 16, String(Int(tick)), anchor: .middle)
        }
    }

    private func trace(
        _ drawing: inout Drawing, _ points: [(Double, Double)], _ top: Double, _ height: Double,
        _ most: Double,
        _ colour: String
    ) {
        func y(_ value: Double) -> Double { top + height - min(value, most) / most * height }
        for (one, next) in zip(points, points.dropFirst()) {
            drawing.line(x(one.0), y(one.1), x(next.0), y(next.1), colour, width: 1.5)
        }
    }

    private static func ceiling(_ most: Double) -> Double {
        let power = pow(10, log10(max(most, 1)).rounded(.down))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= most } ?? most
    }
}
