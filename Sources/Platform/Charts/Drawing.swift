import Foundation

/// Draws rectangles, lines and text into an SVG file of a given width. The height depends on the content.
package struct Drawing {
    package enum Anchor: String { case start, middle, end }

    private let width: Double
    private var parts: [String] = []

    package init(width: Double) { self.width = width }

    package mutating func rectangle(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: String
    ) {
        parts.append(
            #"<rect x="\#(Self.point(x))" y="\#(Self.point(y))" width="\#(Self.point(width))" height="\#(Self.point(height))" fill="\#(colour)"/>"#
        )
    }

    package mutating func line(
        _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String, width: Double = 1
    ) {
        parts.append(
            #"<line x1="\#(Self.point(x1))" y1="\#(Self.point(y1))" x2="\#(Self.point(x2))" y2="\#(Self.point(y2))" stroke="\#(colour)" stroke-width="\#(Self.point(width))"/>"#
        )
    }

    /// Draws a line through all points.
    package mutating func curve(_ points: [(x: Double, y: Double)], _ colour: String, width: Double = 1.5) {
        let places = points.map { "\(Self.point($0.x)),\(Self.point($0.y))" }
        parts.append(
            #"<polyline fill="none" stroke="\#(colour)" stroke-width="\#(Self.point(width))" points="\#(places.joined(separator: " "))"/>"#
        )
    }

    package mutating func text(
        _ x: Double, _ y: Double, _ words: String, anchor: Anchor = .start, size: Int = 12,
        isBold: Bool = false, colour: String = "black"
    ) {
        parts.append(
            #"<text x="\#(Self.point(x))" y="\#(Self.point(y))" text-anchor="\#(anchor.rawValue)" font-size="\#(size)" "#
                + #"font-weight="\#(isBold ? "bold" : "normal")" fill="\#(colour)">\#(Self.escaped(words))</text>"#
        )
    }

    package func svg(height: Double) -> String {
        let (width, height) = (Self.point(width), Self.point(height))
        let head =
            #"<svg xmlns="http://www.w3.org/2000/svg" width="\#(width)" height="\#(height)" "#
            + #"viewBox="0 0 \#(width) \#(height)" font-family="sans-serif" font-size="12">"#
        let paper = #"<rect width="100%" height="100%" fill="white"/>"#
        return ([head, paper] + parts + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private static func point(_ value: Double) -> String { String(format: "%.1f", value) }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
