// swift-format-ignore-file
//
//  Note+Color.swift
//  NoteStorage
//

import CoreData
import UIKit

extension Note {

    /// The color of the note's row.
    public var color: UIColor {
        isPinned ? .systemYellow : .systemBackground
    }
}
